import { execFile } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { isSigned, reserveClosedPort, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { BIN, runCommand, runShell } from './command-process.js';
import { runWithInput } from './command-with-input.js';
import { secretEnv, serve, signingSecret, spellingsOf, startMerchant } from './merchant-server.js';

const SECONDS = 1_769_860_800;
const AT = ['--at', String(SECONDS)];

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(path.join(tmpdir(), 'callback-'));
});
afterAll(() => rm(folder, { recursive: true }));

async function save(name: string, content: string | Uint8Array): Promise<string> {
  const file = path.join(folder, name);
  await writeFile(file, content);
  return file;
}

function hmac(text: string, secret = signingSecret): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

const record = {
  referenceNumber: '0b7f3f4e-1111-4222-8333-444455556666',
  merchantPaymentReference: 'order-1',
  providerReference: 'p-1',
  status: 'paid',
  createdAt: '2026-01-31T12:00:00+00:00',
  updatedAt: '2026-01-31T12:00:00+00:00',
};
const body = JSON.stringify(record);

interface Capture {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly rawBody?: unknown;
  readonly rawBodyBase64?: string;
}

function capture(changes: Readonly<Record<string, string | readonly string[]>> = {}): Capture {
  return {
    headers: {
      'x-timestamp': String(SECONDS),
      'x-signature': hmac(`${SECONDS}.${body}`),
      ...changes,
    },
    rawBody: body,
  };
}

const verify = (input: string | Uint8Array, ...args: readonly string[]) =>
  runWithInput(['callback', 'verify', ...AT, ...args], input, secretEnv);

async function diagnose(input: unknown, ...args: readonly string[]) {
  const { code, stdout, stderr } = await verify(JSON.stringify(input), '--json', ...args);
  const { findings, ...diagnosis } = JSON.parse(stdout);
  const codes = findings.map((finding: { code: string }) => finding.code);
  return { code, stderr, ...diagnosis, codes };
}

describe('callback sign', () => {
  const sign = (...args: readonly string[]) =>
    runCommand(['callback', 'sign', '--timestamp', String(SECONDS), ...args], secretEnv);

  test('signs a record with the fields it was given', async () => {
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
    const file = await save('body.bin', bytes);
    const args = ['callback', 'sign', '--json'];
    const ofFile = await runCommand([...args, `--body-file=${file}`], secretEnv);
    const ofInput = await runWithInput([...args, '--body-file', '-'], bytes, secretEnv);
    const ofText = await runCommand([...args, '--body= é\n'], secretEnv);
    expect(JSON.parse(ofFile.stdout).rawBodyBase64).toBe(bytes.toString('base64'));
    expect(JSON.parse(ofInput.stdout).rawBodyBase64).toBe(bytes.toString('base64'));
    expect(JSON.parse(ofText.stdout).rawBody).toBe(' é\n');
  });

  test('bytes that a command line does not carry go out as an HTTP message, not as curl', async () => {
    const bytes = Buffer.from([0x7b, 0xff, 0x0a, 0x00]);
    const args = ['callback', 'sign', '--body-file=-'];
    const message = await runWithInput([...args, '--output=http'], bytes, secretEnv);
    expect(message.bytes.subarray(-4)).toEqual(bytes);
    expect(message.stdout).toContain('\r\ncontent-length: 4\r\n\r\n');
    const curl = await runWithInput(args, bytes, secretEnv);
    expect(curl).toMatchObject({ code: 2, stdout: '' });
    expect(curl.stderr).toMatch(/^merchant-payments: .*--output json, which has it in base64.*\n$/);
  });

  test('a curl command that a shell runs arrives as it was signed', async () => {
    await using endpoint = await startEndpoint();
    const hostile = `it's "$(touch ${folder}/owned)" \`id\` \\ ! é\u{1f600}`;
    const { code, stderr } = await runShell(
      'merchant-payments callback sign --url "$URL" --reference "$REFERENCE" | bash',
      { ...secretEnv, URL: endpoint.url, REFERENCE: hostile },
    );
    expect({ code, stderr: stderr.includes('not found') }).toEqual({ code: 0, stderr: false });
    const [received] = endpoint.received;
    expect(received && isSigned(received, signingSecret)).toBe(true);
    expect(JSON.parse(String(received?.rawBody))).toMatchObject({
      merchantPaymentReference: hostile,
    });
    expect(received?.headers['content-type']).toBe('application/json');
  });

  test.each([
    [['--output=xml'], /--output must be one of curl, http, json/],
    [['--json', '--output=curl'], /contradict each other/],
    [['--body=x', '--status=paid'], /no room for --status/],
    [['--body=x', '--body-file=y'], /give one of them/],
    [['--body-file=/nowhere/at/all'], /reading \/nowhere\/at\/all failed with ENOENT/],
    [['--field=status=x'], /--field status is given by --status/],
    [['--field=x'], /of the form name=value/],
    [['--field=a=1', '--field=a=2'], /--field a was given twice/],
    [['--reference='], /--reference must not be empty/],
    [['--timestamp=-1'], /--timestamp/],
    [['--timestamp=1.5'], /--timestamp must be a whole number/],
    [['--signature-encoding=rot13'], /--signature-encoding must be one of/],
    [['--url=ftp://x'], /--url must be an http or https URL/],
    [['--signing-secret= x'], /--signing-secret must not begin or end with white space/],
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
        'merchant-payments: the signing secret is missing: set MERCHANT_PAYMENTS_SIGNING_SECRET, or give --signing-secret; a .env file is not read by the command line: run `export MERCHANT_PAYMENTS_SIGNING_SECRET=…` before, or `node --env-file=.env node_modules/merchant-payments/dist/cli/main.js …` instead\n',
    });
  });

  test('takes the signing secret of a .env file in the way that is told', async () => {
    const env = await save('secret.env', `MERCHANT_PAYMENTS_SIGNING_SECRET='${signingSecret}'\n`);
    const args = ['callback', 'sign', '--body', body, '--timestamp', String(SECONDS), '--json'];
    const { stdout } = await promisify(execFile)(
      process.execPath,
      [`--env-file=${env}`, BIN, ...args],
      { env: { PATH: process.env['PATH'] } },
    );
    expect(JSON.parse(stdout).headers).toMatchObject({
      'x-signature': hmac(`${SECONDS}.${body}`),
    });
  });
});

describe('sign and verify', () => {
  test.each(['curl', 'http', 'json'])('as %s', async (output) => {
    const { code, stdout, stderr } = await runShell(
      `merchant-payments callback sign --reference "it's \u{1f600}" --output ${output} | merchant-payments callback verify`,
      secretEnv,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^verified: /);
    expect(stdout).toContain("reference  it's \u{1f600}");
  });

  test.each(['hex', 'base64', 'base64url'])('in %s', async (encoding) => {
    const { code } = await runShell(
      `merchant-payments callback sign --signature-encoding ${encoding} | merchant-payments callback verify --signature-encoding ${encoding}`,
      secretEnv,
    );
    expect(code).toBe(0);
  });
});

describe('callback verify', () => {
  const { headers } = capture();
  const lines = [
    'Content-Type: application/json',
    `X-Timestamp: ${headers['x-timestamp']}`,
    `X-Signature: ${headers['x-signature']}`,
  ];
  const curl = `curl 'http://x' \\\n${lines.map((line) => `  -H '${line}' \\\n`).join('')}  --data-raw '${body}'`;
  const message = `POST / HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n${body}`;
  const json = JSON.stringify(capture());

  test.each([
    ['a file of header lines and one of the body', { headers: lines.join('\n'), body }],
    ['a file of JSON headers and one of the body', { headers: JSON.stringify(headers), body }],
    ['a file of a curl command', { curl }],
    ['a file of an HTTP message', { http: message }],
    ['a file of JSON', { json }],
    [
      'a curl command without its body, and a file of that',
      { curl: `curl -H '${lines[1]}' -H '${lines[2]}' -d @x`, body },
    ],
  ])('reads %s', async (what, parts) => {
    const args = await Promise.all(
      Object.entries(parts).map(async ([part, content]) => [
        `--${part}-file`,
        await save(`${what}.${part}`, content),
      ]),
    );
    const { code, stdout, stderr } = await runCommand(
      ['callback', 'verify', ...AT, ...args.flat()],
      secretEnv,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(/^verified: /);
  });

  test.each([
    ['a curl command', curl, []],
    ['a curl command', curl, ['--curl', '-']],
    ['a curl command', curl, ['--curl-file', '-']],
    ['a curl command', '', ['--curl', curl]],
    ['an HTTP message', message, []],
    ['an HTTP message', message, ['-']],
    ['an HTTP message', message, ['--http-file', '-']],
    ['JSON', json, []],
    ['JSON', json, ['--json-file', '-']],
  ])('reads %s: %#', async (_what, input, args) => {
    const { code, stderr } = await verify(input, ...args);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });

  test('prints the diagnosis as JSON', async () => {
    expect(await diagnose(capture())).toEqual({
      code: 0,
      stderr: '',
      verified: true,
      signature: 'right',
      secretIndex: 0,
      payment: record,
      codes: [],
    });
  });

  test('reads the files of headers and body as they are, with no line break more or less', async () => {
    const headersFile = await save('headers.txt', lines.join('\r\n'));
    const trailing = await save('trailing.json', `${body}\n`);
    const { code, stdout } = await runCommand(
      [
        'callback',
        'verify',
        ...AT,
        '--json',
        '--headers-file',
        headersFile,
        '--body-file',
        trailing,
      ],
      secretEnv,
    );
    expect(code).toBe(1);
    expect(JSON.parse(stdout).findings[0].code).toBe('body-trailing-newline');
  });

  const signed = (text: string, changes: Capture['headers'] = {}): Capture => ({
    ...capture({ 'x-signature': hmac(`${SECONDS}.${text}`), ...changes }),
    rawBody: text,
  });

  test.each<[string, unknown, string[]]>([
    ['secret-edge-space', capture(), ['--signing-secret', `${signingSecret} `]],
    ['secret-quoted', capture(), ['--signing-secret', `"${signingSecret}"`]],
    ['signature-missing', { ...capture(), headers: { 'x-timestamp': String(SECONDS) } }, []],
    ['signature-malformed', capture({ 'x-signature': 'no signature' }), []],
    ['signature-repeated', capture({ 'x-signature': [hmac(body), hmac(body)] }), []],
    ['signature-encoding', capture(), ['--signature-encoding', 'base64']],
    ['signed-body-only', capture({ 'x-signature': hmac(body) }), []],
    ['timestamp-missing', { ...capture(), headers: { 'x-signature': 'ab' } }, []],
    ['timestamp-malformed', capture({ 'x-timestamp': 'soon' }), []],
    ['timestamp-unit', capture(), ['--timestamp-unit', 'milliseconds']],
    ['timestamp-outside-window', capture(), ['--at', String(SECONDS + 301)]],
    ['timestamp-outside-window', capture(), ['--at', '2026-01-31T12:00:02Z', '--tolerance', '1']],
    ['body-not-raw', { ...capture(), rawBody: record }, []],
    ['body-empty', { ...capture(), rawBody: '' }, []],
    ['body-respaced', { ...capture(), rawBody: JSON.stringify(record, null, 2) }, []],
    ['body-trailing-newline', { ...capture(), rawBody: `${body}\n` }, []],
    ['record-invalid', signed('{"status":1}'), []],
    ['unexplained', capture({ 'x-signature': hmac('something else') }), []],
  ])('finds %s', async (expected, input, args) => {
    const at = args.includes('--at') ? [] : AT;
    const { code, stdout, stderr } = await runWithInput(
      ['callback', 'verify', ...at, '--json', ...args],
      JSON.stringify(input),
      args.includes('--signing-secret') ? {} : secretEnv,
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
    expect(stdout).toMatch(/\nbody-trailing-newline\n {2}seen {2}.*\n( {8}.*\n)* {2}fix {3}/);
  });

  test.each<[string, Capture, string[], RegExp]>([
    [
      'timestamp-outside-window',
      capture(),
      ['--at', String(SECONDS + 301)],
      /For a captured callback give the time it came at: --at <time>\./,
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
    const { stdout } = await runWithInput([...call, '--json'], JSON.stringify(input), secretEnv);
    const { findings } = JSON.parse(stdout);
    const found = findings.find((finding: { code: string }) => finding.code === code);
    expect(found.remedy).toMatch(remedy);
    const text = await runWithInput(call, JSON.stringify(input), secretEnv);
    expect(text.stdout).toContain(args[0]);
    expect(text.stdout).not.toMatch(/let now|timestampUnit|signatureEncoding/);
  });

  test.each([
    ['', []],
    ['\n', ['-']],
    ['', ['--http-file', '-']],
    ['', ['--curl', '-']],
    ['', ['--json-file', '-']],
  ])('says that standard input is empty: %j %j', async (input, args) => {
    const { code, stdout, stderr } = await verify(input, ...args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain('merchant-payments: standard input is empty, but the callback should');
  });

  test('an empty body on standard input is a body', async () => {
    const headersFile = await save('headers-alone.txt', lines.join('\n'));
    const { code, stdout } = await verify('', '--headers-file', headersFile, '--body-file', '-');
    expect(code).toBe(1);
    expect(stdout).toContain('body-empty');
  });

  test('takes several secrets while rotating', async () => {
    const secrets = ['--signing-secret=new', `--signing-secret=${signingSecret}`];
    expect(await diagnose(capture(), ...secrets)).toMatchObject({ code: 0, secretIndex: 1 });
    expect(await diagnose(capture(), '--signing-secret=new')).toMatchObject({ code: 1 });
  });

  test('a tolerance of 0 is the same second', async () => {
    const inSecond = await diagnose(capture(), '--tolerance', '0');
    expect(inSecond.code).toBe(0);
    const { code } = await runWithInput(
      ['callback', 'verify', '--at', String(SECONDS + 1), '--tolerance', '0'],
      json,
      secretEnv,
    );
    expect(code).toBe(1);
  });

  test('a note on the capture goes to stderr', async () => {
    const noted = message.replace('\r\n\r\n', `\r\nContent-Length: ${body.length}\r\n\r\n`);
    const { code, stderr } = await verify(`${noted}\n`);
    expect(code).toBe(0);
    expect(stderr).toMatch(
      /^note: line breaks behind the \d+ bytes of Content-Length were left out\n$/,
    );
  });

  test('a file of the body stands in for the one of another capture', async () => {
    const file = await save('right.json', body);
    const { code } = await verify(message.replace('paid', 'lost'), '-', '--body-file', file);
    expect(code).toBe(0);
  });

  test('no file that a pasted command names is read', async () => {
    const named = await save('named.json', body);
    const { code, stdout, stderr } = await verify(
      `curl ${lines.map((line) => `-H '${line}'`).join(' ')} --data-binary @${named}`,
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(/is not read here: give the file as --body-file/);
  });

  test.each([
    [['--headers-file=a', '--http-file=b'], /--headers-file and --http-file each give a capture/],
    [['--headers-file=-', '--body-file=-'], /standard input can be read once/],
    [['--body-file=-'], /standard input can be read once/],
    [['-', '--http-file=b'], /--http-file and - each give a capture/],
    [['a.http'], /give a file by --http-file/],
    [['--http-file=/nowhere'], /--http-file: reading \/nowhere failed with ENOENT/],
    [['--http-file=/'], /failed with EISDIR/],
    [['--at=yesterday'], /--at must be Unix seconds/],
    [['--tolerance=-1'], /--tolerance/],
    [['--tolerance=1m'], /--tolerance must be a whole number/],
    [['--timestamp-unit=days'], /--timestamp-unit must be one of seconds, milliseconds/],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await runWithInput(
      ['callback', 'verify', ...args],
      json,
      secretEnv,
    );
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
  });

  test('a capture of more than 16 MiB is refused', async () => {
    const limit = 16 * 1024 * 1024;
    const { code, stderr } = await verify(Buffer.alloc(limit + 1, 0x20));
    expect(code).toBe(2);
    expect(stderr).toContain(`at most ${limit} bytes`);
  });

  test('nothing of a record drives the terminal', async () => {
    const hostile = JSON.stringify({ ...record, merchantPaymentReference: 'a\u001b[2J\u202eb\n' });
    const { code, stdout } = await verify(JSON.stringify(signed(hostile)));
    expect(code).toBe(0);
    expect(stdout).toContain('reference  a\\x1b[2J\\u202eb\\n\n');
  });
});

describe('callback send', () => {
  const send = (url: string, ...args: readonly string[]) =>
    runCommand(['callback', 'send', url, ...args], secretEnv);

  test('sends a record, and prints what was sent and answered', async () => {
    await using merchant = await startMerchant();
    const { code, stdout, stderr } = await send(
      merchant.url,
      '--reference=order-1',
      '--field=x=[1]',
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(merchant.statuses).toEqual(['paid']);
    expect(stdout).toContain(
      `sent to ${merchant.url}\n  content-type: application/json\n  x-timestamp: `,
    );
    expect(stdout).toContain('"merchantPaymentReference":"order-1"');
    expect(stdout).toContain('"x":[1]');
    expect(stdout).toMatch(/answer: acknowledged, HTTP 200, \d+ ms\n/);
    expect(stdout).toMatch(/the endpoint answered as it should\n$/);
  });

  test('sends a body as it is, with the fields and the time it was given', async () => {
    await using endpoint = await startEndpoint(() => 401);
    const { code, stdout } = await send(
      endpoint.url,
      '--json',
      `--body=${body}`,
      `--timestamp=${SECONDS}`,
    );
    expect(endpoint.received[0]?.rawBody.toString()).toBe(body);
    expect(endpoint.received[0]?.headers).toMatchObject({
      'x-timestamp': String(SECONDS),
      'x-signature': hmac(`${SECONDS}.${body}`),
    });
    expect(code).toBe(0);
    expect(JSON.parse(stdout).sent[0]).toMatchObject({
      expected: 'refused',
      reason: 'TIMESTAMP_OUTSIDE_WINDOW',
      rawBody: body,
    });
  });

  test.each<[string, string[], number[], string[]]>([
    ['duplicate', ['--set=copies=2'], [200, 200, 200], ['paid']],
    ['reorder', [], [200, 200], ['paid']],
    ['drop', [], [0, 200], ['paid']],
    ['stale-timestamp', [], [401], []],
    ['stale-timestamp', ['--set=bySeconds=20'], [200], ['paid']],
    ['future-timestamp', [], [401], []],
    ['tampered-body', [], [401], []],
    ['wrong-secret', [], [401], []],
    ['missing-header', [], [401], []],
    ['missing-header', ['--set=header=x-timestamp'], [401], []],
    ['missing-header', ['--set=header=content-type'], [200], ['paid']],
    ['reserialized-body', [], [401], []],
    ['unknown-status', ['--set=status=lost'], [200], ['lost']],
    ['extra-field', ['--set=field=x', '--set=value={"y":1}'], [200], ['paid']],
  ])('with the fault %s %j the package answers %j', async (fault, args, statuses, acted) => {
    await using merchant = await startMerchant();
    const { code, stdout, stderr } = await send(
      merchant.url,
      '--json',
      `--fault=${fault}`,
      ...args,
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const { isAsExpected, sent } = JSON.parse(stdout);
    expect(isAsExpected).toBe(true);
    expect(sent.map((one: { response?: { status: number } }) => one.response?.status ?? 0)).toEqual(
      statuses,
    );
    expect(merchant.statuses).toEqual(acted);
  });

  test('copies that come at once are acted on once', async () => {
    await using merchant = await startMerchant();
    const { code, stdout } = await send(
      merchant.url,
      '--json',
      '--fault=duplicate',
      '--set=mode=at-once',
      '--set=copies=9',
    );
    expect(code).toBe(0);
    expect(JSON.parse(stdout).sent).toHaveLength(10);
    expect(merchant.statuses).toEqual(['paid']);
  });

  test('with reorder the older change comes last, of the same payment', async () => {
    await using endpoint = await startEndpoint();
    const { code } = await send(
      endpoint.url,
      '--fault=reorder',
      '--reference=r',
      '--status=settled',
    );
    expect(code).toBe(0);
    const records = endpoint.received.map(({ rawBody }) => JSON.parse(rawBody.toString()));
    expect(records.map(({ status }) => status)).toEqual(['settled', 'pending']);
    expect(new Set(records.map(({ referenceNumber }) => referenceNumber)).size).toBe(1);
    expect(records.every(({ merchantPaymentReference }) => merchantPaymentReference === 'r')).toBe(
      true,
    );
  });

  test.each([[[]], [['--fault=extra-field']]])(
    'with %j sends as often as it was told',
    async (args) => {
      await using merchant = await startMerchant();
      const { code } = await send(merchant.url, '--times=3', ...args);
      expect(code).toBe(0);
      expect([...merchant.effects.values()]).toEqual([1, 1, 1]);
    },
  );

  test.each([[[]], [['--fault=extra-field']]])(
    'with %j signs with the encoding and the time it was given',
    async (args) => {
      await using endpoint = await startEndpoint(() => 401);
      const { code } = await send(
        endpoint.url,
        '--signature-encoding=base64',
        `--timestamp=${SECONDS}`,
        ...args,
      );
      expect(code).toBe(0);
      const [received] = endpoint.received;
      const digest = createHmac('sha256', signingSecret).update(`${SECONDS}.${received?.rawBody}`);
      expect(received?.headers['x-signature']).toBe(digest.digest('base64'));
    },
  );

  test.each([
    [[], 500, /answered 500, but a callback in order must be accepted with 2xx/],
    [['--fault=duplicate'], 409, /answered 409.*and 1 more were not/],
    [['--fault=unknown-status'], 422, /must be accepted/],
    [
      ['--fault=wrong-secret'],
      200,
      /answered 200, but a callback that fails verification with SIGNATURE_MISMATCH must be refused/,
    ],
    [['--fault=tampered-body'], 500, /must be refused/],
  ])('with %j an answer of %i is a failure, in one line', async (args, status, message) => {
    await using endpoint = await startEndpoint(() => status);
    const { code, stdout, stderr } = await send(endpoint.url, ...args);
    expect(code).toBe(1);
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
    expect(stdout).toContain(`HTTP ${status}`);
    expect(stdout).not.toContain('as it should');
    const { stdout: json } = await send(endpoint.url, '--json', ...args);
    expect(JSON.parse(json).isAsExpected).toBe(false);
  });

  test('nobody listens, and nobody answers in time', async () => {
    const closed = await send(`http://127.0.0.1:${await reserveClosedPort()}/`);
    expect(closed.code).toBe(1);
    expect(closed.stderr).toContain('gave no answer (ECONNREFUSED)');
    await using silent = await startEndpoint(() => undefined);
    for (const args of [[], ['--fault=wrong-secret']]) {
      const late = await send(silent.url, '--timeout=200', ...args);
      expect(late.code).toBe(1);
      expect(late.stderr).toContain('gave no answer (timed-out)');
    }
  });

  test('follows no redirect, and shows an answer escaped and cut', async () => {
    await using server = await serve((_request, response) => {
      // It never ends.
      response.writeHead(307, { location: '/elsewhere' }).write(`\u001b[2J${'x'.repeat(100_000)}`);
    });
    const { code, stdout } = await send(server.url);
    expect(code).toBe(1);
    expect(stdout).toContain('HTTP 307');
    expect(stdout).toContain('\\x1b[2Jxxx');
    expect(stdout.length).toBeLessThan(3_000);
  });

  test.each([
    [['http://127.0.0.1:1/', '--fault=nonsense'], /there is no fault "nonsense"/],
    [['http://127.0.0.1:1/', '--fault=duplicates'], /did you mean duplicate/],
    [['http://127.0.0.1:1/', '--fault=drop', '--set=x=1'], /--set x is not a field/],
    [
      ['http://127.0.0.1:1/', '--fault=duplicate', '--set=copies=0'],
      /copies must be a whole number/,
    ],
    [['http://127.0.0.1:1/', '--set=copies=3'], /give --fault too/],
    [['http://127.0.0.1:1/', '--fault=drop', '--body=x'], /but a whole body came/],
    [
      ['http://127.0.0.1:1/', '--fault=drop', '--field=a=1'],
      /only --reference and --status.*but a came/,
    ],
    [['http://127.0.0.1:1/', '--fault=drop', '--reference= '], /--reference was not accepted/],
    [['http://127.0.0.1:1/', '--times=0'], /--times must be a whole number from 1/],
    [['http://127.0.0.1:1/', '--timeout=x'], /--timeout/],
    [['nonsense'], /<callback-url> must be an http or https URL/],
    [['http://user:pass@127.0.0.1/'], /must not hold a user name or password/],
    [[], /<callback-url> is missing/],
  ])('refuses %j', async (args, message) => {
    const { code, stdout, stderr } = await runCommand(['callback', 'send', ...args], secretEnv);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(message);
    expect(stderr.split('\n')).toHaveLength(2);
  });
});

test('the signing secret is in no output, in no spelling', async () => {
  await using merchant = await startMerchant();
  const calls: readonly (readonly string[])[] = [
    ['sign'],
    ['sign', '--json'],
    ['sign', '--output=http'],
    ['sign', '--output=nonsense'],
    ['send', merchant.url],
    ['send', merchant.url, '--json', '--fault=wrong-secret'],
    ['send', merchant.url, '--fault=drop', '--body=x'],
    ['verify', '--curl', `curl -H 'X-Timestamp: 1' -H 'X-Signature: ${hmac('x')}' -d x`],
    ['verify', '--json', '--curl', `curl -H 'X-Timestamp: 1' -H 'X-Signature: ${hmac('x')}' -d x`],
  ];
  for (const call of calls) {
    const given = await runCommand(['callback', ...call, `--signing-secret=${signingSecret}`]);
    const { stdout, stderr } = await runCommand(['callback', ...call], secretEnv);
    const printed = [given.stdout, given.stderr, stdout, stderr].join('\n');
    for (const spelling of spellingsOf(signingSecret)) expect(printed).not.toContain(spelling);
  }
});
