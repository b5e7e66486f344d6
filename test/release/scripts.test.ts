import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, describe, expect, it } from 'vitest';

interface Ran {
  readonly status: number;
  readonly output: string;
}

/** Runs one of the scripts of a release in a folder. */
async function run(script: string, cwd: string, ...args: string[]): Promise<Ran> {
  const child = spawn(process.execPath, [path.resolve('scripts', script), ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, npm_config_cache: path.join(cwd, '.cache') },
  });
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ]);
  return { status, output: stdout + stderr };
}

const folder = mkdtempSync(path.join(tmpdir(), 'merchant-payments-release-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a version', () => {
  const entries = (breaking = '') =>
    `# Changelog\n\n## 2.5.0 - unreleased\n\n${breaking}- What is new.\n\n## 0.1.0 - 2026-01-31\n\n### Breaking\n`;

  function repository(changelog: string): string {
    const made = mkdtempSync(path.join(folder, 'repository-'));
    mkdirSync(path.join(made, 'docs'));
    const stating = ['src/protocol/version.ts', 'src/openapi/openapi.json'];
    for (const file of ['package.json', 'package-lock.json', ...stating]) {
      cpSync(file, path.join(made, file));
    }
    writeFileSync(path.join(made, 'CHANGELOG.md'), changelog);
    return made;
  }

  it('is written into every file that has it, with the date, and is ready then', async () => {
    const made = repository(entries());
    expect(await run('check-release.mjs', made, 'v2.5.0')).toMatchObject({ status: 1 });
    expect(await run('set-version.mjs', made, '2.5.0')).toMatchObject({ status: 0 });
    expect(readFileSync(path.join(made, 'CHANGELOG.md'), 'utf8')).toMatch(
      /\n## 2\.5\.0 - \d{4}-\d{2}-\d{2}\n/,
    );
    expect(await run('check-release.mjs', made, 'v2.5.0')).toEqual({
      status: 0,
      output: 'v2.5.0 is ready to be released.\n',
    });
    expect((await run('check-release.mjs', made, 'v2.5.1')).output).toContain('the tag is v2.5.1');
  });

  it('that breaks something needs its migration page', async () => {
    const made = repository(entries('### Breaking\n\n'));
    await run('set-version.mjs', made, '2.5.0');
    const { status, output } = await run('check-release.mjs', made, 'v2.5.0');
    expect(status).toBe(1);
    expect(output).toContain('there is no docs/migrate-to-2.5.md');
    writeFileSync(path.join(made, 'docs/migrate-to-2.5.md'), '# To 2.5');
    expect(await run('check-release.mjs', made, 'v2.5.0')).toMatchObject({ status: 0 });
  });
});
