import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, onTestFinished, test } from 'vitest';
import { commandLoaders } from '../../src/cli/registry.js';
import { runShell, shellCall } from './command-process.js';

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
    `${firsts.size + 3} demo`,
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
      writeFileSync(path.join(folder, 'captured.json'), '');
      const lines = [
        'fault add request de',
        'mock --retry-signing ',
        'callback verify --json-file capt',
      ];
      const script = asked[shell](lines.map((line) => `merchant-payments ${line}`));
      const options = shell === 'fish' ? ['--no-config', '-c', script] : ['-f', '-c', script];
      const { stdout } = await promisify(execFile)(shell, options, {
        cwd: folder,
        env: { PATH: `${folder}:${process.env['PATH']}`, HOME: folder, TERM: 'dumb' },
      });
      expect(stdout.split('---\n').map((found) => found.split('\n').slice(0, -1))).toEqual([
        ['delay'],
        ['fresh', 'original'],
        ['captured.json'],
        [],
      ]);
    },
  );
});
