import { describe, expect, test } from 'vitest';
import {
  AT,
  body,
  type Capture,
  capture,
  createCaptureFolder,
  diagnose,
  hmac,
  record,
  SECONDS,
  verify,
} from './captured-callback.js';
import { secretEnv, signingSecret } from './merchant-server.js';
import { runCommand } from './run-command.js';

const captures = createCaptureFolder();

describe('callback verify', () => {
  const { headers } = capture();
  const lines = [
    'Content-Type: application/json',
    `X-Timestamp: ${headers['x-timestamp']}`,
    `X-Signature: ${headers['x-signature']}`,
  ];
  const message = `POST / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
  const json = JSON.stringify(capture());

  test.each([
    ['--http-file', message],
    ['--json-file', json],
  ])('reads a file that is named by %s', async (option, content) => {
    const file = await captures.save(`callback${option}`, content);
    const { code, stdout, stderr } = await runCommand(
      ['callback', 'verify', ...AT, option, file],
      secretEnv,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^verified: /);
  });

  test.each([
    ['an HTTP message', message, []],
    ['JSON', json, []],
  ])('reads %s: %#', async (_what, input, args) => {
    const { code, stderr } = await verify(input, ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('prints the diagnosis as JSON', async () => {
    expect(await diagnose(capture())).toEqual({
      code: 0,
      stderr: '',
      verified: true,
      secretIndex: 0,
      payment: record,
      codes: [],
    });
  });

  const signed = (text: string, changes: Capture['headers'] = {}): Capture => ({
    ...capture({ 'x-signature': hmac(`${SECONDS}.${text}`), ...changes }),
    rawBody: text,
  });

  test.each<[string, unknown, string[]]>([
    ['secret-edge-space', capture(), ['--signing-secret', `${signingSecret} `]],
    ['secret-quoted', capture(), ['--signing-secret', `"${signingSecret}"`]],
    ['signature-encoding', capture(), ['--signature-encoding', 'base64']],
    ['timestamp-unit', capture(), ['--timestamp-unit', 'milliseconds']],
    ['timestamp-outside-window', capture(), ['--at', String(SECONDS + 301)]],
    ['timestamp-outside-window', capture(), ['--at', '2026-01-31T12:00:02Z', '--tolerance', '1']],
    ['unexplained', { ...capture(), rawBody: '{}' }, []],
  ])('finds %s', async (expected, input, args) => {
    const at = args.includes('--at') ? [] : AT;
    const { code, stdout, stderr } = await runCommand(
      ['callback', 'verify', ...at, '--json', ...args],
      args.includes('--signing-secret') ? {} : secretEnv,
      JSON.stringify(input),
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    const { findings } = JSON.parse(stdout);
    expect(findings.map((finding: { code: string }) => finding.code)).toContain(expected);
  });

  test('prints what was seen and what to do', async () => {
    const { code, stdout, stderr } = await verify(
      JSON.stringify({ ...capture(), rawBody: `${body}\n` }),
    );
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toMatch(/^refused with SIGNATURE_MISMATCH\n/);
    expect(stdout).toMatch(/\nbody-reserialized\n {2}seen {2}.*\n( {8}.*\n)* {2}fix {3}/);
  });

  test('warns of an authentic record that is refused, and names the secret that matched', async () => {
    const late = ['callback', 'verify', '--at', String(SECONDS + 301), '--signing-secret=other'];
    const args = [...late, `--signing-secret=${signingSecret}`];
    const { stdout } = await runCommand(args, {}, json);
    expect(stdout).toContain('paid (authentic, but refused: look at it, do not act on it)');
    expect(stdout).toContain('with signing secret 2');
  });

  test.each<[string, Capture, string[], RegExp]>([
    [
      'timestamp-outside-window',
      capture(),
      ['--at', String(SECONDS + 301)],
      /For a captured callback, give the time it was received: --at <time>\./,
    ],
    [
      'timestamp-unit',
      capture(),
      ['--timestamp-unit', 'milliseconds'],
      /If the service sends seconds, give --timestamp-unit seconds\.$/,
    ],
    [
      'signature-encoding',
      capture(),
      ['--signature-encoding', 'base64'],
      /^Give --signature-encoding hex\b/,
    ],
  ])('the remedy of %s names the flag', async (code, input, args, remedy) => {
    const at = args.includes('--at') ? [] : AT;
    const call = ['callback', 'verify', ...at, ...args];
    const { stdout } = await runCommand([...call, '--json'], secretEnv, JSON.stringify(input));
    const { findings } = JSON.parse(stdout);
    const found = findings.find((finding: { code: string }) => finding.code === code);
    expect(found.remedy).toMatch(remedy);
    const text = await runCommand(call, secretEnv, JSON.stringify(input));
    expect(text.stdout).toContain(args[0]);
    expect(text.stdout).not.toMatch(/let now|set (?:timestampUnit|signatureEncoding)/i);
  });

  test.each([
    ['', []],
    ['', ['--http-file', '-']],
  ])('says that standard input is empty: %j %j', async (input, args) => {
    const { code, stdout, stderr } = await verify(input, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('merchant-payments: standard input is empty: pipe in the callback');
  });

  test('a tolerance of 0 is the same second', async () => {
    const inSecond = await diagnose(capture(), '--tolerance', '0');
    expect(inSecond.code).toBe(0);
    const { code } = await runCommand(
      ['callback', 'verify', '--at', String(SECONDS + 1), '--tolerance', '0'],
      secretEnv,
      json,
    );
    expect(code).toBe(1);
  });

  test('a capture in JSON without headers is refused', async () => {
    const { code, stderr } = await verify('{"rawBody":""}');
    expect(code).toBe(2);
    expect(stderr).toContain('headers');
  });

  test.each([
    [['--http-file=a', '--json-file=b'], /give one capture/],
    [['a.http'], /too many arguments: expected none/],
    [['--http-file=/nowhere'], /--http-file: reading \/nowhere failed with ENOENT/],
    [['--at=yesterday'], /--at must be Unix seconds/],
    [['--tolerance=1m'], /--tolerance must be a whole number/],
    [['--timestamp-unit=days'], /--timestamp-unit must be one of seconds, milliseconds/],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(
      ['callback', 'verify', ...args],
      secretEnv,
      json,
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
  });

  test('a record cannot control the terminal', async () => {
    const hostile = JSON.stringify({ ...record, merchantPaymentReference: 'a\u001b[2J\u202eb\n' });
    const { code, stdout } = await verify(JSON.stringify(signed(hostile)));
    expect(code).toBe(0);
    expect(stdout).toContain('reference  a\\x1b[2J\\u202eb\\n\n');
  });
});
