import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandLoaders } from '../../src/cli/registry.js';
import { faultTypesOn } from '../../src/mock-server/faults/fault-catalogue.js';
import { runCommand, runShell, shellCall } from './command-process.js';

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
    expect(await complete('payments', 's')).toEqual(['show', 'set-status']);
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
    expect(await complete('deliveries', 'resend', '--fault', 'd')).toEqual(['duplicate', 'drop']);
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

test('bash completes by its script', async () => {
  const { stdout, stderr } = await runShell(`
    source <(merchant-payments completion bash)
    COMP_WORDS=(merchant-payments fault add request de) COMP_CWORD=4
    _merchant_payments
    echo "\${COMPREPLY[@]}"
    COMP_WORDS=(merchant-payments '') COMP_CWORD=1
    _merchant_payments
    echo "\${#COMPREPLY[@]} \${COMPREPLY[0]}"
    complete -p merchant-payments`);
  const firsts = new Set([...commandLoaders.keys()].map((name) => name.split(' ')[0]));
  expect(stdout.split('\n')).toEqual([
    'delay',
    `${firsts.size + 3} mock`,
    'complete -o default -F _merchant_payments merchant-payments',
    '',
  ]);
  expect(stderr).toBe('');
});

/** Prints what each line is completed with, and a line that holds --- after each. */
const asked = {
  fish: (lines: readonly string[]) =>
    [
      'merchant-payments completion fish | source',
      ...lines.map((line) => `complete -C '${line}'\nprintf '%s\\n' ---`),
    ].join('\n'),
  // A shell on a terminal of its own, in which Tab is pressed, and which says what it adds.
  zsh: (lines: readonly string[]) => `
    zmodload zsh/zpty
    zpty shell zsh -f -i
    zpty -w shell 'PS1=; autoload -Uz compinit; compinit -u -D; source <(merchant-payments completion zsh)
      compadd() { builtin compadd -O found "$@"; print -rn -- "<\${(j: :)found}>" }
      print READ""Y'
    zpty -r shell shown '*READY*'
    for line in ${lines.map((line) => `'${line}'`).join(' ')}; do
      zpty -w -n shell "$line"$'\\t'
      zpty -r shell shown '*<*>*'
      print -rl -- \${=\${\${shown##*<}%%>*}} ---
      zpty -w -n shell $'\\C-u'
    done
    zpty -d shell`,
};

describe.each(['fish', 'zsh'] as const)('%s', (shell) => {
  const isMissing = spawnSync(shell, ['--version']).error !== undefined;
  if (isMissing) console.warn(`${shell} is not installed: its completion is not tested`);

  test.skipIf(isMissing)(
    'completes by its script, and files where that has nothing to say',
    async () => {
      const folder = mkdtempSync(path.join(tmpdir(), 'completion-'));
      onTestFinished(() => rmSync(folder, { recursive: true }));
      const command = `#!/bin/sh\nexec ${shellCall} "$@"\n`;
      writeFileSync(path.join(folder, 'merchant-payments'), command, { mode: 0o755 });
      writeFileSync(path.join(folder, 'profile.json'), '');
      const lines = ['fault add request de', 'mock --retry-signing ', 'mock --profile prof'];
      const script = asked[shell](lines.map((line) => `merchant-payments ${line}`));
      const options = shell === 'fish' ? ['--no-config', '-c', script] : ['-f', '-c', script];
      const { stdout } = await promisify(execFile)(shell, options, {
        cwd: folder,
        env: { PATH: `${folder}:${process.env['PATH']}`, HOME: folder, TERM: 'dumb' },
      });
      expect(stdout.split('---\n').map((found) => found.split('\n').slice(0, -1))).toEqual([
        ['delay'],
        ['fresh', 'original'],
        ['profile.json'],
        [],
      ]);
    },
  );
});
