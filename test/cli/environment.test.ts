import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { readEnvironment } from '../../src/cli/environment.js';
import { secretEnv } from './merchant-server.js';
import { runCommand, startCommand, startMock } from './run-command.js';

/** A folder with a file of variables. */
function saveVariables(lines: readonly string[], name = '.env') {
  const folder = mkdtempSync(path.join(tmpdir(), 'environment-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, name);
  writeFileSync(file, lines.join('\n'));
  return { folder, file };
}

const creation = [
  ...['payments', 'create', '--reference', 'order-1', '--amount', '1', '--currency', 'EUR'],
];
const serviceEnv = {
  MERCHANT_PAYMENTS_API_KEY: 'key',
  MERCHANT_PAYMENTS_API_SECRET: 'secret',
};

test('what the environment lacks is read from the file that --env-file names', async () => {
  await using mock = await startMock();
  const { file } = saveVariables([
    `MERCHANT_PAYMENTS_MOCK_URL='${mock.url}' # as printed`,
    'MERCHANT_PAYMENTS_SIGNING_SECRET=hunter2',
  ]);
  const envFile = ['--env-file', file];
  expect(await runCommand(['fault', 'list', ...envFile])).toMatchObject({ code: 0 });
  const empty = { MERCHANT_PAYMENTS_MOCK_URL: '' };
  expect(await runCommand(['fault', 'list', ...envFile], empty)).toMatchObject({ code: 0 });
  const other = { MERCHANT_PAYMENTS_MOCK_URL: 'nonsense' };
  expect(await runCommand(['fault', 'list', ...envFile], other)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('MERCHANT_PAYMENTS_MOCK_URL must be an http'),
  });
  expect(await runCommand(['callback', 'sign', ...envFile])).toMatchObject({ code: 0 });
});

test('a named file that does not exist is refused, and no content of a file is shown', async () => {
  const { folder } = saveVariables([]);
  for (const file of [path.join(folder, 'none'), folder]) {
    const { code, stderr } = await runCommand(['fault', 'list', '--env-file', file]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^merchant-payments: --env-file: reading \S+ failed with E\w+\n$/);
  }
});

test('without --env-file the .env of the folder is read', async () => {
  await using mock = await startMock();
  const { folder } = saveVariables([`MERCHANT_PAYMENTS_MOCK_URL=${mock.url}`, 'PATH=/nowhere']);
  const { code, stdout } = await startCommand(['reset'], { cwd: folder }).ended;
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('was reset') });
});

test('a .env that no option names does not lead payments create to another machine', async () => {
  await using mock = await startMock();
  const { folder } = saveVariables([
    'MERCHANT_PAYMENTS_BASE_URL=https://payments.invalid',
    'MERCHANT_PAYMENTS_API_KEY=key',
    'MERCHANT_PAYMENTS_API_SECRET=hunter2',
  ]);
  const silent = await startCommand(creation, {
    cwd: folder,
    env: { MERCHANT_PAYMENTS_MOCK_URL: mock.url },
  }).ended;
  expect(silent).toMatchObject({
    code: 0,
    stderr: expect.not.stringContaining('payments.invalid'),
  });
  const named = await startCommand([...creation, '--env-file', '.env'], { cwd: folder }).ended;
  expect(named.stderr).toContain('creating a payment at https://payments.invalid');
  expect(named.code).toBe(1);
  expect(named.stderr).not.toContain('hunter2');
});

test.each([
  ['https://payments.invalid', false],
  ['https://pay.localhost', false],
  ['http://localhost.:4242', false],
  ['https://localhost.payments.invalid', false],
  ['http://127.0.0.1.nip.io', false],
  ['nonsense', false],
  ['http://localhost:4242', true],
  ['http://LOCALHOST', true],
  ['http://127.1', true],
  ['http://[::ffff:127.0.0.1]:4242', true],
])('whether a .env that no option names can select %s: %s', (address, expected) => {
  const { folder } = saveVariables([`MERCHANT_PAYMENTS_BASE_URL=${address}`]);
  const env = readEnvironment({ env: {}, cwd: folder }, undefined);
  expect(env).toEqual(expected ? { MERCHANT_PAYMENTS_BASE_URL: address } : {});
  const named = readEnvironment({ env: {}, cwd: folder }, path.join(folder, '.env'));
  expect(named).toEqual({ MERCHANT_PAYMENTS_BASE_URL: address });
});

test('a .env with the address of a service on this machine is used', async () => {
  await using mock = await startMock();
  const { folder } = saveVariables([
    `MERCHANT_PAYMENTS_BASE_URL=${mock.url}`,
    'MERCHANT_PAYMENTS_API_KEY=mock_api_key',
    'MERCHANT_PAYMENTS_API_SECRET=mock_api_secret',
  ]);
  const { code, stderr } = await startCommand(creation, { cwd: folder }).ended;
  expect({ code, stderr }).toEqual({ code: 0, stderr: `creating a payment at ${mock.url}\n` });
});

test('a relative path begins at the folder of the command', async () => {
  const { folder } = saveVariables(['{"version":2}'], 'profile.json');
  const run = (...args: string[]) =>
    startCommand(args, { cwd: folder, env: { ...secretEnv, ...serviceEnv } }).ended;
  const sign = await run('callback', 'sign', '--json', '--body-file', 'profile.json');
  expect(JSON.parse(sign.stdout).rawBody).toBe('{"version":2}');
  const discover = ['discover', '--yes', '--base-url', 'http://127.0.0.1:9'];
  for (const line of [['mock'], discover]) {
    const { stderr } = await run(...line, '--profile', 'profile.json');
    expect(stderr).toContain('profile.version must be 1');
  }
  const { stderr } = await run(...discover, '--output', 'profile.json');
  expect(stderr).toContain('--output: profile.json exists');
  await run('check', 'http://127.0.0.1:1/', '--junit', 'check.xml');
  expect(existsSync(path.join(folder, 'check.xml'))).toBe(true);
});
