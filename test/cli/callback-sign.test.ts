import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { isSigned, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { createCaptureFolder, hmac, record, SECONDS } from './captured-callback.js';
import { secretEnv, signingSecret } from './merchant-server.js';
import { runCommand } from './run-command.js';

const captures = createCaptureFolder();

describe('callback sign', () => {
  const sign = (...args: readonly string[]) =>
    runCommand(['callback', 'sign', '--timestamp', String(SECONDS), ...args], secretEnv);

  test('signs a record with the given fields', async () => {
    const { code, stdout, stderr } = await sign(
      '--json',
      '--reference=order-7',
      '--status=refunded',
      `--reference-number=${record.referenceNumber}`,
      '--field=providerReference=42',
      '--field=amount=12.5',
      '--field=note=a=b',
      '--url=http://127.0.0.1:3000/x',
    );
    const { headers, rawBody, rawBodyBase64, ...rest } = JSON.parse(stdout);
    expect({ code, stderr, ...rest }).toEqual({
      code: 0,
      stderr: '',
      method: 'POST',
      url: 'http://127.0.0.1:3000/x',
    });
    expect(JSON.parse(rawBody)).toEqual({
      referenceNumber: record.referenceNumber,
      merchantPaymentReference: 'order-7',
      providerReference: '42',
      status: 'refunded',
      createdAt: '2026-01-31T12:00:00.000+00:00',
      updatedAt: '2026-01-31T12:00:00.000+00:00',
      amount: 12.5,
      note: 'a=b',
    });
    expect(Buffer.from(rawBodyBase64, 'base64').toString()).toBe(rawBody);
    expect(headers).toEqual({
      'content-type': 'application/json',
      'x-timestamp': String(SECONDS),
      'x-signature': hmac(`${SECONDS}.${rawBody}`),
    });
  });

  test('signs a body byte for byte: text, a file, standard input', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x0a, 0x00]);
    const file = await captures.save('body.bin', bytes);
    const args = ['callback', 'sign', '--json'];
    const ofFile = await runCommand([...args, `--body-file=${file}`], secretEnv);
    const ofInput = await runCommand([...args, '--body-file', '-'], secretEnv, bytes);
    const ofText = await runCommand([...args, '--body= é\n'], secretEnv);
    expect(JSON.parse(ofFile.stdout).rawBodyBase64).toBe(bytes.toString('base64'));
    expect(JSON.parse(ofInput.stdout).rawBodyBase64).toBe(bytes.toString('base64'));
    expect(JSON.parse(ofText.stdout).rawBody).toBe(' é\n');
  });

  test('bytes that a command line cannot hold are printed as an HTTP message, not as curl', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x0a, 0x00]);
    const args = ['callback', 'sign', '--body-file=-'];
    const message = await runCommand([...args, '--output=http'], secretEnv, bytes);
    expect(message.bytes.subarray(-4)).toEqual(bytes);
    expect(message.stdout).toContain('\r\ncontent-length: 4\r\n\r\n');
    const curl = await runCommand(args, secretEnv, bytes);
    expect(curl).toMatchObject({ code: 2, stdout: '' });
    expect(curl.stderr).toMatch(
      /^merchant-payments: .*--output json, which has them in base64.*\n$/,
    );
  });

  test('a curl command that a shell runs arrives as it was signed', async () => {
    await using endpoint = await startEndpoint();
    const hostile = `it's "$(touch ${captures.path}/owned)" \`id\` \\ ! é\u{1f600}`;
    const line = ['callback', 'sign', '--url', endpoint.url, '--reference', hostile];
    const { stdout: curl } = await runCommand(line, secretEnv);
    const { stderr } = await promisify(execFile)('bash', ['-c', curl]);
    expect(stderr).not.toContain('not found');
    const [received] = endpoint.received;
    expect(received && isSigned(received, signingSecret)).toBe(true);
    expect(JSON.parse(String(received?.rawBody))).toMatchObject({
      merchantPaymentReference: hostile,
    });
    expect(received?.headers['content-type']).toBe('application/json');
  });

  test.each([
    [['--output=xml'], /--output must be one of curl, http, json/],
    [['--json', '--output=curl'], /conflict: give one of them/],
    [['--body=x', '--status=paid'], /replace the record: leave out --status/],
    [['--body=x', '--body-file=y'], /give one of them/],
    [['--body-file=/nowhere/at/all'], /reading \/nowhere\/at\/all failed with ENOENT/],
    [['--field=status=x'], /--field status is not allowed: --status sets it/],
    [['--field=x'], /of the form name=value/],
    [['--field=a=1', '--field=a=2'], /--field a was given twice/],
    [['--reference='], /--reference must not be empty/],
    [['--timestamp=-1'], /--timestamp/],
    [['--timestamp=1.5'], /--timestamp must be a whole number/],
    [['--signature-encoding=rot13'], /--signature-encoding must be one of/],
    [['--url=ftp://x'], /--url must be an http or https URL/],
    [
      ['--signing-secret= x'],
      /--signing-secret: signingSecret must not begin or end with white space/,
    ],
    [['extra'], /too many/],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(['callback', 'sign', ...args], secretEnv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
  });

  test('says that the signing secret is missing', async () => {
    const { code, stderr } = await runCommand(['callback', 'sign']);
    expect({ code, stderr }).toEqual({
      code: 2,
      stderr:
        'merchant-payments: the signing secret is missing: set MERCHANT_PAYMENTS_SIGNING_SECRET in the environment or in .env, or give --env-file or --signing-secret\n',
    });
  });
});

describe('sign and verify', () => {
  const signAndVerify = async (sign: readonly string[], verify: readonly string[] = []) => {
    const { stdout: signed } = await runCommand(['callback', 'sign', ...sign], secretEnv);
    return runCommand(['callback', 'verify', ...verify], secretEnv, signed);
  };

  test.each(['http', 'json'])('as %s', async (output) => {
    const reference = "it's \u{1f600}";
    const ended = await signAndVerify(['--reference', reference, '--output', output]);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^verified: /);
    expect(ended.stdout).toContain(`reference  ${reference}`);
  });

  test.each(['hex', 'base64', 'base64url'])('in %s', async (encoding) => {
    const inIt = ['--signature-encoding', encoding];
    expect(await signAndVerify(['--json', ...inIt], inIt)).toMatchObject({ code: 0 });
  });
});
