import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import { AT, capture, createCaptureFolder } from './captured-callback.js';
import { runShell, shellCall, startProcess } from './command-process.js';
import { secretEnv, signingSecret } from './merchant-server.js';
import { startMock, toMock } from './run-command.js';

const captures = createCaptureFolder();

// What only a process can show: its arguments, exit code, signals, pipes and end. All else about the commands is
// tested without a process of their own.

test('prints the version; a mistake is one line on standard error, with exit code 2', async () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
  const line = 'merchant-payments --version; echo $?; merchant-payments moc; echo $?';
  expect(await runShell(line)).toMatchObject({
    stdout: `${version}\n0\n2\n`,
    stderr: 'merchant-payments: unknown command moc; did you mean mock?\n',
  });
});

test('a signal ends the mock with 0, whatever it is doing, and the environment is in no output', async () => {
  await using endpoint = await startEndpoint(() => undefined);
  const line = ['mock', '--port', '0', '--callback-url', endpoint.url];
  await using mock = await toMock(startProcess(line, secretEnv));
  await mock.json('fault', 'add', 'request', 'hang');
  const held = fetch(`${mock.url}/api/payments`, { method: 'POST' }).catch((error) => error);
  await mock.run('payments', 'list');
  mock.kill('SIGINT');
  const { code, stdout, stderr } = await mock.ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).not.toContain(signingSecret);
  expect(await held).toBeInstanceOf(Error);
});

test('a command reads from a pipe, and a reader that leaves is not a failure', async () => {
  const env = await captures.save(
    'secret.env',
    `MERCHANT_PAYMENTS_SIGNING_SECRET='${signingSecret}'\n`,
  );
  const call = shellCall.replace(' ', ` --env-file='${env}' `);
  const file = await captures.save('callback.json', JSON.stringify(capture()));
  const joined = await runShell(`cat '${file}' | ${call} callback verify ${AT.join(' ')}`);
  expect(joined).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^verified: /),
    stderr: '',
  });
  await using mock = await startMock();
  for (let count = 0; count < 3; count += 1) {
    await mock.run('fault', 'add', 'request', 'hang', '--match', `path=/${'x'.repeat(90_000)}`);
  }
  const listing = 'merchant-payments fault list --json | head -c 1; echo " $PIPESTATUS"';
  expect(await runShell(listing, { MERCHANT_PAYMENTS_MOCK_URL: mock.url })).toMatchObject({
    stdout: '{ 0\n',
    stderr: '',
  });
  const running = 'merchant-payments mock --port 0 | true; echo $PIPESTATUS';
  expect(await runShell(running)).toMatchObject({ stdout: '0\n', stderr: '' });
});

test('an output that can not be written to is a failure', async () => {
  expect(await runShell('merchant-payments --help > /dev/full; echo $?')).toMatchObject({
    stdout: '1\n',
    stderr: 'merchant-payments: writing the output failed with ENOSPC\n',
  });
});

test('a bug is one line with exit code 1, without a stack', async () => {
  const bug = 'process.once("SIGTERM", () => { throw new TypeError("x is no \\u001b function"); })';
  const mock = startProcess(['mock', '--port', '0'], {
    NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(bug)}`,
  });
  await mock.printed(/Ctrl-C to stop/);
  mock.kill('SIGTERM');
  expect(await mock.ended).toMatchObject({
    code: 1,
    stderr: 'merchant-payments: TypeError: x is no \\x1b function\n',
  });
});
