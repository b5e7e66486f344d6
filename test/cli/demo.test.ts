import { expect, test } from 'vitest';
import { checkDemo } from '../runtimes/demo-output.js';
import { startProcess } from './command-process.js';
import { runCommand, startCommand } from './run-command.js';

test('the demo shows an order from checkout to paid, on one screen', async () => {
  const ended = await startProcess(['demo']).ended;
  const failures = checkDemo({ ...ended, code: ended.code ?? -1 }).filter((one) => one.failure);
  expect(failures).toEqual([]);
  const lines = ended.stdout.trimEnd().split('\n');
  expect(lines.length).toBeLessThanOrEqual(24);
  expect(lines.filter((line) => line.length > 90)).toEqual([]);
  expect(ended.stdout.match(/order-1 is paid/g)).toHaveLength(1);
});

test('has colours on a terminal alone, and none with NO_COLOR', async () => {
  const onTerminal = (env: Record<string, string>) =>
    startCommand(['demo'], { columns: 80, env: { TERM: 'xterm', ...env } }).ended;
  expect((await onTerminal({})).stdout).toContain('\u001b[32morder-1 is paid');
  expect((await onTerminal({ NO_COLOR: '1' })).stdout).not.toContain('\u001b');
  expect((await runCommand(['demo'])).stdout).not.toContain('\u001b');
});

test('with --json prints only JSON', async () => {
  const { code, stdout } = await runCommand(['demo', '--json']);
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ requests: 1, payments: 1, parcels: 1 });
});

test('takes no argument', async () => {
  expect(await runCommand(['demo', 'x'])).toMatchObject({ code: 2, stdout: '' });
});
