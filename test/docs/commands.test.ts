import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from 'vitest';
import { parseArguments } from '../../src/cli/arguments.js';
import { commandLoaders } from '../../src/cli/registry.js';

const pages = readdirSync('docs')
  .filter((file) => file.endsWith('.md'))
  .map((file) => path.join('docs', file))
  .concat('README.md');

/** Every call of the command line in a block of shell or YAML, its folded lines joined. */
const calls = pages.flatMap((page) => {
  const blocks = readFileSync(page, 'utf8').matchAll(/^```(?:sh|yaml)\n(.*?)^```$/gms);
  return [...blocks].flatMap(([, block = '']) =>
    block
      .replaceAll(/\n +--/g, ' --')
      .split('\n')
      .map((line) => /npx merchant-payments (.*)/.exec(line)?.[1])
      .filter((call) => call !== undefined)
      .map((call) => ({ page, call })),
  );
});

describe('every command in the documentation', () => {
  test('was found', () => {
    expect(calls.length).toBeGreaterThan(20);
  });

  test.each(calls)('$page: $call', async ({ call }) => {
    const words = call.split(/\s+/);
    const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((one) =>
      commandLoaders.has(one),
    );
    const command = await commandLoaders.get(name ?? '')?.();
    if (name === undefined || command === undefined) return expect.fail(`no such command: ${call}`);
    const own = words.slice(name.split(' ').length);
    expect(() => parseArguments(command, own)).not.toThrow();
  });
});
