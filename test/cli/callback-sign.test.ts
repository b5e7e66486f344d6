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
    const { headers, rawBody, ...rest } = JSON.parse(stdout);
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
    expect(headers).toEqual({
      'content-type': 'application/json',
      'x-timestamp': String(SECONDS),
      'x-signature': hmac(`${SECONDS}.${rawBody}`),
    });
  });

  test('signs a whole body as it is given', async () => {
    const { stdout } = await sign('--json', '--body= é\n');
    const { headers, rawBody } = JSON.parse(stdout);
    expect(rawBody).toBe(' é\n');
    expect(headers['x-signature']).toBe(hmac(`${SECONDS}. é\n`));
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
    [['--output=xml'], /unknown option --output/],
    [['--body=x', '--status=paid'], /replaces the record: leave out --status/],
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
        'merchant-payments: the signing secret is missing: set MERCHANT_PAYMENTS_SIGNING_SECRET in the environment or in .env, or give --dotenv or --signing-secret\n',
    });
  });
});

describe('sign and verify', () => {
  const signAndVerify = async (sign: readonly string[], verify: readonly string[] = []) => {
    const { stdout: signed } = await runCommand(['callback', 'sign', ...sign], secretEnv);
    return runCommand(['callback', 'verify', ...verify], secretEnv, signed);
  };

  test('as JSON', async () => {
    const reference = "it's \u{1f600}";
    const ended = await signAndVerify(['--reference', reference, '--json']);
    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^verified: /);
    expect(ended.stdout).toContain(`reference  ${reference}`);
  });

  test.each(['hex', 'base64', 'base64url'])('in %s', async (encoding) => {
    const inIt = ['--signature-encoding', encoding];
    expect(await signAndVerify(['--json', ...inIt], inIt)).toMatchObject({ code: 0 });
  });
});
