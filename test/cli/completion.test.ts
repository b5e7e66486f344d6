import { describe, expect, test } from 'vitest';
import { commandLoaders } from '../../src/cli/registry.js';
import { faultTypesOn } from '../../src/mock-server/faults/fault-catalogue.js';
import { runCommand } from './run-command.js';

async function complete(...words: readonly string[]): Promise<string[]> {
  const { code, stdout } = await runCommand(['completion', 'words', '--', ...words]);
  expect(code).toBe(0);
  return stdout.split('\n').slice(0, -1);
}

describe('the completion of the last word', () => {
  test('is the first word of a command', async () => {
    const firsts = [...commandLoaders.keys()].map((name) => name.split(' ')[0]);
    const expected = [...new Set(firsts), 'help', '--help', '--version'];
    expect(await complete('')).toEqual(expected);
    expect(await complete()).toEqual(expected);
    expect(await complete('pay')).toEqual(['payments']);
    expect(await complete('help', 'm')).toEqual(['mock']);
    expect(await complete('nonsense', '')).toEqual([]);
  });

  test('is the second word of a command', async () => {
    expect(await complete('payments', 's')).toEqual(['set-status', 'show']);
    expect(await complete('payments', 'nonsense', '')).toEqual([]);
  });

  test('is an option, unless it is given already and cannot be repeated', async () => {
    const options = await complete('fault', 'add', 'request', 'delay', '--times', '3', '--');
    expect(options).toContain('--set');
    expect(options).toContain('--help');
    expect(options).not.toContain('--times');
    expect(await complete('fault', 'add', '--set', 'a=1', '--se')).toEqual(['--set']);
    expect(await complete('mock', '--auto', 'paid', '--af')).toEqual(['--after']);
  });

  test('is a value of an option, or of a word, where they are few', async () => {
    expect(await complete('mock', '--retry-signing', '')).toEqual(['fresh', 'original']);
    expect(await complete('mock', '--port', '')).toEqual([]);
    expect(await complete('callback', 'send', '--fault', 'd')).toEqual(['duplicate', 'drop']);
    expect(await complete('fault', 'add', 're')).toEqual(['request']);
    const types = await complete('fault', 'add', '--times', '2', 'request', '');
    expect(types).toEqual(expect.arrayContaining(faultTypesOn('request')));
    expect(await complete('completion', '')).toEqual(
      expect.arrayContaining(['bash', 'zsh', 'fish']),
    );
  });
});

test.each(['bash', 'zsh', 'fish'])('there is a script for %s', async (shell) => {
  const { code, stdout } = await runCommand(['completion', shell]);
  expect(code).toBe(0);
  expect(stdout).toContain('completion words -- ');
});

test('another shell is refused', async () => {
  expect(await runCommand(['completion', 'tcsh'])).toMatchObject({ code: 2, stdout: '' });
});
