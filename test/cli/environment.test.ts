import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { UsageError } from '../../src/cli/command.js';
import { readEnvironment } from '../../src/cli/environment.js';
import { runCommand, startCommand, startMock } from './run-command.js';

/** A folder with a file of variables. */
function saveVariables(lines: readonly string[], name = '.env') {
  const folder = mkdtempSync(path.join(tmpdir(), 'environment-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = path.join(folder, name);
  writeFileSync(file, lines.join('\n'));
  return { folder, file };
}

test('what the environment lacks is read from the file that --dotenv names', async () => {
  await using mock = await startMock();
  const { file } = saveVariables([
    `MERCHANT_PAYMENTS_MOCK_URL='${mock.url}' # as printed`,
    'MERCHANT_PAYMENTS_SIGNING_SECRET=hunter2',
  ]);
  const envFile = ['--dotenv', file];
  expect(await runCommand(['fault', 'list', ...envFile])).toMatchObject({ code: 0 });
  const empty = { MERCHANT_PAYMENTS_MOCK_URL: '' };
  expect(await runCommand(['fault', 'list', ...envFile], empty)).toMatchObject({ code: 0 });
  const other = { MERCHANT_PAYMENTS_MOCK_URL: 'nonsense' };
  expect(await runCommand(['fault', 'list', ...envFile], other)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('MERCHANT_PAYMENTS_MOCK_URL must be an absolute http'),
  });
});

test('a named file that does not exist is refused, and no content of a file is shown', async () => {
  const { folder } = saveVariables([]);
  for (const file of [path.join(folder, 'none'), folder]) {
    const { code, stderr } = await runCommand(['fault', 'list', '--dotenv', file]);
    expect(code).toBe(2);
    expect(stderr).toMatch(/^merchant-payments: --dotenv: reading \S+ failed with E\w+\n$/);
  }
});

const variable = 'MERCHANT_PAYMENTS_API_KEY=hunter2\n';
const utf16 = Buffer.from(variable, 'utf16le');
const swapped = Buffer.from(utf16).swap16();

/** A folder with a file of these bytes, read as the `.env` and as a named file. */
function readBoth(bytes: Uint8Array) {
  const { folder, file } = saveVariables([]);
  writeFileSync(file, bytes);
  const read = (named?: string) => readEnvironment({ env: {}, cwd: folder }, named);
  return { file, readSilently: () => read(), readNamed: () => read(file) };
}

test.each([
  ['with a byte order mark', `\ufeff${variable}`],
  ['with line ends of Windows', `A=b\r\n${variable.trim()}\r\n`],
  ['without a byte order mark', variable],
])('a file in UTF-8 %s is read', (_what, text) => {
  const { readSilently, readNamed } = readBoth(Buffer.from(text));
  const expected = { MERCHANT_PAYMENTS_API_KEY: 'hunter2' };
  expect([readSilently(), readNamed()]).toEqual([expected, expected]);
});

test.each([
  ['little-endian, with a byte order mark', Buffer.concat([Buffer.of(0xff, 0xfe), utf16])],
  ['big-endian, with a byte order mark', Buffer.concat([Buffer.of(0xfe, 0xff), swapped])],
])('a file in UTF-16 is refused by name, and not shown: %s', (_what, bytes) => {
  const { file, readSilently, readNamed } = readBoth(bytes);
  const code = 'ERR_ENCODING_INVALID_ENCODED_DATA';
  expect(readSilently).toThrow(
    `reading .env failed with ${code}: make it a readable file in UTF-8`,
  );
  expect(readNamed).toThrow(new UsageError(`--dotenv: reading ${file} failed with ${code}`));
});

test('a .env that is a folder counts as none', () => {
  const { folder } = saveVariables([], 'other');
  mkdirSync(path.join(folder, '.env'));
  expect(readEnvironment({ env: {}, cwd: folder }, undefined)).toEqual({});
});

test('without --dotenv the .env of the folder is read', async () => {
  await using mock = await startMock();
  const { folder } = saveVariables([`MERCHANT_PAYMENTS_MOCK_URL=${mock.url}`, 'PATH=/nowhere']);
  const { code, stdout } = await startCommand(['reset'], { cwd: folder }).ended;
  expect({ code, stdout }).toMatchObject({ code: 0, stdout: expect.stringContaining('was reset') });
});
