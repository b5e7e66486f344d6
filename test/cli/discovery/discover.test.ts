import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { MockServerOptions, ServiceProfile } from '../../../src/mock-server/index.js';
import { startMockServer } from '../../../src/mock-server/index.js';
import { signCallback } from '../../../src/testing/index.js';
import { serve } from '../merchant-server.js';
import { runCommand, startCommand, startMock } from '../run-command.js';
import { apiKey, apiSecret, digest, owner, signingSecret, startStranger } from './stranger.js';

const folder = mkdtempSync(path.join(tmpdir(), 'discover-'));
afterAll(() => rmSync(folder, { recursive: true }));

const env = {
  MERCHANT_PAYMENTS_API_KEY: apiKey,
  MERCHANT_PAYMENTS_API_SECRET: apiSecret,
  MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
};

interface Printed {
  readonly profile: ServiceProfile;
  readonly created: readonly string[];
}

/** Runs `discover` with callbacks, which `pay` has sent to the address that it is given. */
async function discover(
  baseUrl: string,
  pay: (callbackUrl: string) => Promise<unknown>,
): Promise<Printed> {
  const line = ['discover', '--base-url', baseUrl, '--yes', '--json', '--listen', '0'];
  await using command = startCommand([...line, '--wait', '1h'], { env });
  const [, callbackUrl = ''] = await command.printed(/for a callback at (\S+):/, 'stderr');
  await pay(callbackUrl);
  const { code, stdout, stderr } = await command.ended;
  expect(code, stderr).toBe(0);
  return JSON.parse(stdout);
}

async function discoverMock(options: MockServerOptions): Promise<Printed> {
  const settings = { apiKey, apiSecret, signingSecret, retryScheduleMs: [0, 0, 0] };
  await using server = await startMockServer({ ...settings, ...options });
  return await discover(server.url, async (callbackUrl) => {
    server.callbackUrl = callbackUrl;
    await server.setStatus(server.payments.list()[0]?.referenceNumber ?? '', 'paid');
  });
}

/** Runs `discover` without callbacks. */
const run = (baseUrl: string, ...more: string[]) =>
  runCommand(['discover', '--base-url', baseUrl, '--yes', ...more], env);

describe('of a mock', () => {
  test.each([
    { signatureEncoding: 'hex', timestampUnit: 'seconds', retrySigning: 'fresh' },
    { signatureEncoding: 'base64', timestampUnit: 'seconds', retrySigning: 'original' },
    { signatureEncoding: 'base64url', timestampUnit: 'milliseconds', retrySigning: 'original' },
    { signatureEncoding: 'hex', timestampUnit: 'milliseconds', retrySigning: 'fresh' },
  ] as const)('learns what it is set to: %j', async (callbacks) => {
    const { profile, created } = await discoverMock({ ...callbacks, initialStatus: 'open' });
    expect(profile).toMatchObject({ version: 1, callbacks, notLearned: {} });
    expect(profile.creation).toEqual({
      status: 201,
      contentType: 'application/json',
      body: {
        referenceNumber: '{referenceNumber}',
        merchantPaymentReference: '{merchantPaymentReference}',
        providerReference: '{providerReference}',
        status: 'open',
        createdAt: '{dateTime}',
        updatedAt: '{dateTime}',
      },
    });
    expect(profile.repeatedReference?.effect).toBe('second-payment');
    expect(profile.invalid.invalidCredentials).toMatchObject({
      status: 401,
      body: { code: 'INVALID_CREDENTIALS', message: '{text}', requestId: '{uuid}' },
    });
    expect(created.map((reference) => reference.replace(/^discover-[\da-f]{8}-/, ''))).toEqual([
      'valid',
      'valid',
      'negativeAmount',
    ]);
  });
});

const strangers = [
  {
    choices: { repetition: 'same', status: 202, keepsSignature: true, sign: digest('base64') },
    now: () => String(Date.now()),
    learned: {
      effect: 'same-payment',
      status: 200,
      callbacks: {
        signatureEncoding: 'base64',
        timestampUnit: 'milliseconds',
        retrySigning: 'original',
      },
    },
  },
  {
    choices: { repetition: 'refused', status: 303, keepsSignature: false, sign: digest('hex') },
    now: () => String(Math.floor(Date.now() / 1000)),
    learned: {
      effect: 'refused',
      status: 409,
      callbacks: { signatureEncoding: 'hex', timestampUnit: 'seconds', retrySigning: 'fresh' },
    },
  },
  {
    choices: {
      repetition: 'second',
      status: 200,
      keepsSignature: false,
      sign: digest('base64url'),
    },
    now: () => String(Math.floor(Date.now() / 1000)),
    learned: {
      effect: 'second-payment',
      status: 200,
      callbacks: {
        signatureEncoding: 'base64url',
        timestampUnit: 'seconds',
        retrySigning: 'fresh',
      },
    },
  },
] as const;

describe.each(strangers)('of a service that is not the mock: $learned.effect', (stranger) => {
  const { choices, now, learned } = stranger;

  test('the profile describes it, and a mock with that profile behaves the same', async () => {
    await using service = await startStranger({ ...choices, now });
    const { profile, created } = await discover(service.url, service.pay);
    const answer = {
      contentType: 'application/vnd.pay+json',
      body: {
        data: {
          id: '{referenceNumber}',
          reference: '{merchantPaymentReference}',
          state: 'waiting',
          price: ['{amount}', '{currency}'],
          test: true,
          merchant: { name: '{text}', mail: '{text}', phone: '{number}' },
        },
        payAt: '{url}',
      },
    };
    const error = (status: number, code: string) => ({
      status,
      contentType: 'application/vnd.pay+json',
      body: { error: { code, detail: '{text}' }, traceId: '{uuid}' },
    });
    const { data } = answer.body;
    expect(profile).toEqual({
      version: 1,
      creation: { status: choices.status, ...answer },
      repeatedReference: {
        effect: learned.effect,
        answer:
          learned.effect === 'refused'
            ? error(409, 'DUPLICATE')
            : { status: learned.status, ...answer },
      },
      invalid: {
        missingCredentials: { status: 403 },
        invalidCredentials: error(401, 'BAD_KEY'),
        missingReference: error(422, 'REFERENCE_REQUIRED'),
        missingAmount: error(422, 'AMOUNT_REQUIRED'),
        missingCurrency: {
          status: choices.status,
          ...answer,
          body: { ...answer.body, data: { ...data, price: ['{amount}', null] } },
        },
        invalidAmount: error(400, 'AMOUNT_TYPE'),
        negativeAmount: error(409, 'AMOUNT_BOUNDS'),
        invalidCurrency: error(422, 'CURRENCY'),
      },
      callbacks: learned.callbacks,
      notLearned: {},
    });
    expect(service.bodies).toHaveLength(10);
    expect(created).toHaveLength(service.count());

    const again = await discoverMock({ profile });
    expect(again.profile).toEqual(profile);
  });
});

const [{ choices, now }] = strangers;

describe('consent', () => {
  test('is required: without a terminal and --yes nothing is sent', async () => {
    await using service = await startStranger({ ...choices, now });
    const { code, stdout, stderr } = await runCommand(['discover', '--base-url', service.url], env);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(`discover creates payments at ${service.url}, of 100 EUR`);
    expect(stderr).toContain('That is 10 at most.');
    expect(stderr).toContain('there is no terminal to ask for consent; give --yes');
    expect(service.bodies).toEqual([]);
  });

  test.each([
    ['y', 0, 10],
    ['n', 2, 0],
    ['', 2, 0],
  ])('answered with "%s" ends with %i', async (answer, expected, requests) => {
    await using service = await startStranger({ ...choices, now });
    await using command = startCommand(['discover', '--base-url', service.url], {
      env,
      columns: 80,
    });
    await command.printed(/Create them\? \[y\/N\]/, 'stderr');
    command.type(`${answer}\r`);
    const { code, stderr } = await command.ended;
    expect(code, stderr).toBe(expected);
    expect(service.bodies).toHaveLength(requests);
  });
});

describe('an invalid command line is refused before anything is sent', () => {
  const existing = path.join(folder, 'existing.json');
  writeFileSync(existing, '{"version":2}');
  test.each<[string, string[], string]>([
    ['an output that exists', ['--output', existing], `--output: ${existing} exists`],
    [
      'an output in a folder that is missing',
      ['--output', '/nowhere/profile.json'],
      '--output: writing to /nowhere failed with ENOENT',
    ],
    ['a profile that is none', ['--profile', existing], 'profile.version must be 1'],
    ['a profile that is missing', ['--profile', '/nowhere'], 'failed with ENOENT'],
    ['a currency in words', ['--currency', 'euro'], '--currency must be three capital letters'],
    ['its own field', ['--field', 'amount=5'], '--field amount is not allowed: --amount sets it'],
    ['a long wait', ['--wait', '2h'], '--wait must be at most 1h'],
    ['a port that is none', ['--listen', '65536'], '--listen must be a whole number'],
  ])('%s', async (_what, given, message) => {
    await using service = await startStranger({ ...choices, now });
    const { code, stderr } = await run(service.url, ...given);
    expect({ code, bodies: service.bodies }).toEqual({ code: 2, bodies: [] });
    expect(stderr).toContain(message);
  });

  test('credentials that are missing, and http beyond this machine', async () => {
    const line = ['discover', '--yes', '--base-url', 'http://payments.example'];
    expect(await runCommand(line, env)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--base-url: baseUrl must be an https: URL'),
    });
    expect(await runCommand(line)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('MERCHANT_PAYMENTS_API_KEY is not set'),
    });
    const { MERCHANT_PAYMENTS_SIGNING_SECRET: _secret, ...others } = env;
    const listening = ['discover', '--yes', '--base-url', 'https://payments.example'];
    expect(await runCommand([...listening, '--listen', '0'], others)).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('the signing secret is missing'),
    });
  });
});

describe('a server that does not answer like the service', () => {
  test.each<[string, RequestListener, string]>([
    [
      'other credentials',
      (_request, response) => response.writeHead(401).end('{"code":"NO"}'),
      'the service refused the credentials (401)',
    ],
    [
      'a field that it asks for',
      (_request, response) => {
        response.writeHead(422, { 'content-type': 'application/json' });
        response.end('{"code":"RETURN_URL_REQUIRED"}');
      },
      'refused a valid creation (422 RETURN_URL_REQUIRED): give what it requires with --amount, --currency and --field',
    ],
    [
      'an overload',
      (_request, response) => response.writeHead(503).end(),
      'the service answered 503; payments may have been created',
    ],
    [
      'an answer without an end',
      (_request, response) => {
        response.writeHead(201, { 'content-type': 'application/json' });
        const write = () => void (response.destroyed || response.write('x'.repeat(10_000), write));
        write();
      },
      'the answer is longer than 65536 bytes; payments may have been created',
    ],
    [
      'silence',
      () => undefined,
      'no answer within 50 ms; payments may have been created, with references that begin with discover-',
    ],
    [
      'a reset',
      (request) => request.socket.resetAndDestroy(),
      'the connection failed with ECONNRESET; payments may have been created',
    ],
    [
      'another protocol',
      ({ socket }) => socket.write('HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      'the connection failed with UNEXPECTED_UPGRADE; payments may have been created',
    ],
    [
      'the secret as a code',
      (_request, response) => {
        response.writeHead(401, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ code: apiSecret }));
      },
      'the service refused the credentials (401 [redacted])',
    ],
  ])('%s', async (what, listener, message) => {
    await using service = await serve(listener);
    const timeout = what === 'silence' ? '50' : '60000';
    const { code, stdout, stderr } = await run(service.url, '--timeout', timeout);
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
    expect(stderr).toContain(message);
  });

  test.each([
    [
      'in a field that is a status elsewhere',
      { result: 'Planted', kind: 'Planted', type: 'Planted' },
    ],
    ['of an address', { address: { state: 'Planted', code: 'Planted', status: 'Planted' } }],
    ['of a customer', { customer_state: 'Planted', postal_code: 'Planted', sort_code: 'Planted' }],
    ['as a status with spaces or signs', { status: 'Planted Name', code: 'planted@mail.example' }],
    [
      'as a number of an account',
      { status: 'PLANTED491701234567', code: 'DE89370400440532013000' },
    ],
    ['as a number', { code: 4929123412341234, status: 491701234567 }],
    [
      'as names of fields',
      { customers: { 'planted.name': 1, 'planted@mail': 1, PLANTED12345: 1 } },
    ],
    [
      'in a list',
      { errors: [{ field: 'Planted', value: 'Planted', parent: { code: 'Planted' } }] },
    ],
  ])('personal data that looks like a word is in no profile: %s', async (_where, body) => {
    await using service = await serve((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const { code, stdout, stderr } = await run(service.url, '--json');
    expect(code).toBe(0);
    expect(stdout + stderr).not.toMatch(/planted|DE8937|4929123412|49170123/i);
  });

  test.each([
    [{ status: 'paid', code: 'LIMIT_EXCEEDED' }],
    [{ data: { state: 'requires_action' } }],
    [{ payment: { status: 'Created' } }],
    [{ error: { code: 'card.declined-3' } }],
    [{ errors: [{ code: 4021 }, { code: 'E42' }] }],
    [{ payment_status: 'open', errorCode: 'E_1' }],
  ])('a status and a code of the payment are kept: %j', async (body) => {
    await using service = await serve((_request, response) => {
      response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(body));
    });
    const { stdout } = await run(service.url, '--json');
    expect(JSON.parse(stdout).profile.creation.body).toEqual(body);
  });

  test('secrets are in no profile, wherever the service answers them', async () => {
    const secrets = Object.values(env);
    await using service = await serve((request, response) => {
      const said = [...secrets, request.headers.authorization?.slice('Basic '.length) ?? ''];
      // Fields whose values are kept, names of fields, and the type.
      const places = ['status', 'code', 'type', 'object'].map((name, at) => [name, said[at]]);
      const names = said.map((name) => [name, 1]);
      response.writeHead(201, { 'content-type': `application/json+${signingSecret}` });
      response.end(JSON.stringify(Object.fromEntries([...places, ...names])));
    });
    const { code, stdout, stderr } = await run(service.url, '--json');
    expect(code).toBe(0);
    const [pair] = [`${apiKey}:${apiSecret}`].map((text) => Buffer.from(text).toString('base64'));
    for (const secret of [...secrets, String(pair)]) expect(stdout + stderr).not.toContain(secret);
    await using odd = await serve((_request, response) => {
      response.writeHead(201, { 'content-type': `x/${'y'.repeat(5000)}` }).end('{}');
    });
    expect(JSON.parse((await run(odd.url, '--json')).stdout).profile.creation).toEqual({
      status: 201,
      body: '{text}',
    });
  });

  test('what one request does not show is not learned, with the reason; the rest is', async () => {
    let count = 0;
    await using service = await serve((request, response) => {
      count += 1;
      if (count === 4) response.writeHead(429).end();
      else if (count === 5) request.socket.destroy();
      else response.writeHead(200, { 'content-type': 'text/plain' }).end('done');
    });
    const { stdout } = await run(service.url, '--json');
    const { profile } = JSON.parse(stdout) as Printed;
    expect(profile.creation).toEqual({ status: 200, contentType: 'text/plain', body: '{text}' });
    expect(Object.keys(profile.invalid)).toHaveLength(6);
    expect(profile.notLearned).toEqual({
      repeatedReference: expect.stringContaining('the answers have no referenceNumber'),
      'invalid.invalidCredentials': 'the service answered 429',
      'invalid.missingReference': 'the connection failed with ECONNRESET',
      callbacks: 'callbacks are received only with --listen',
    });
  });
});

test('nothing is learned from callbacks that fail verification, and those of other payments are retried', async () => {
  const statuses: number[] = [];
  let answerProbes = (): void => undefined;
  const sent = new Promise<void>((resolve) => {
    answerProbes = resolve;
  });
  await using service = await serve((_request, response) => {
    void sent.then(() => response.end());
  });
  const line = ['discover', '--base-url', service.url, '--yes', '--json', '--listen', '0'];
  await using command = startCommand([...line, '--wait', '1ms'], { env });
  const [, callbackUrl = ''] = await command.printed(/receiving callbacks at (\S+)/, 'stderr');
  for (const secret of ['another secret', signingSecret]) {
    const { headers, rawBody } = signCallback({ payment: {}, signingSecret: secret });
    const { status } = await fetch(callbackUrl, { method: 'POST', headers, body: rawBody });
    statuses.push(status);
  }
  expect(statuses).toEqual([401, 503]);
  answerProbes();
  const { profile } = JSON.parse((await command.ended).stdout) as Printed;
  expect(profile.callbacks).toEqual({});
  expect(profile.notLearned['callbacks']).toBe(
    'callbacks were received, but none passed verification (SIGNATURE_MISMATCH)',
  );
});

describe('a later run with the profile', () => {
  const file = path.join(folder, 'earlier.json');

  test('finds no drift where there is none, and names each where there is', async () => {
    await using service = await startStranger({ ...choices, now });
    const first = await run(service.url, '--output', file);
    expect(first.stderr).toContain(`the profile was written to ${file}`);
    expect(await run(service.url, '--profile', file)).toMatchObject({ code: 0, stdout: '' });
    await using changed = await startStranger({
      ...choices,
      status: 200,
      repetition: 'refused',
      now,
    });
    const { code, stdout } = await run(changed.url, '--profile', file);
    expect(code).toBe(1);
    expect(stdout).toContain('creation.status: was 202, is 200\n');
    expect(stdout).toContain('invalid.missingCurrency.status: was 202, is 200\n');
    const { drift } = JSON.parse((await run(changed.url, '--profile', file, '--json')).stdout);
    expect(drift).toContainEqual({ point: 'creation.status', before: 202, now: 200 });
  });

  test('compares callbacks only with those of a run that received them', async () => {
    await using service = await startStranger({ ...choices, now });
    const { profile } = await discover(service.url, service.pay);
    writeFileSync(file, JSON.stringify(profile));
    const { code, stdout, stderr } = await run(service.url, '--profile', file);
    expect({ code, stdout }).toEqual({ code: 0, stdout: '' });
    expect(stderr).toContain('not learned: repeatedReference: the answers have no referenceNumber');
    expect(stderr).toContain('not learned: callbacks: callbacks are received only with --listen');
    const callbacks = { ...profile.callbacks, retrySigning: 'fresh' };
    writeFileSync(file, JSON.stringify({ ...profile, callbacks }));
    const line = ['discover', '--base-url', service.url, '--yes', '--profile', file];
    await using command = startCommand([...line, '--listen', '0', '--wait', '1h'], { env });
    const [, callbackUrl = ''] = await command.printed(/for a callback at (\S+):/, 'stderr');
    await service.pay(callbackUrl);
    expect(await command.ended).toMatchObject({
      code: 1,
      stdout: 'callbacks.retrySigning: was "fresh", is "original"\n',
    });
  });
});

test('mock --profile answers and signs as in the profile, unless an option overrides it', async () => {
  await using service = await startStranger({ ...choices, now });
  const { profile } = await discover(service.url, service.pay);
  const file = path.join(folder, 'of-the-mock.json');
  writeFileSync(file, JSON.stringify(profile));
  await using mock = await startMock('--profile', file, '--timestamp-unit', 'seconds', '--json');
  const create = () =>
    fetch(`${mock.url}/_mock/api/payments`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ merchantPaymentReference: 'order-1', amount: 5, currency: 'EUR' }),
    });
  const [first, second] = [await create(), await create()];
  expect([first.status, second.status]).toEqual([202, 200]);
  const { data } = (await first.json()) as { data: { id: string } };
  expect(await second.json()).toMatchObject({ data: { id: data.id, reference: 'order-1' } });
  await using endpoint = await serve((_request, response) => response.end());
  await fetch(`${mock.url}/_mock/settings`, {
    method: 'PATCH',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ callbackUrl: endpoint.url }),
  });
  const { attempts } = (await mock.json('payments', 'set-status', data.id, 'paid')) as {
    attempts: { headers: Record<string, string> }[];
  };
  expect(attempts[0]?.headers).toMatchObject({
    'x-timestamp': expect.stringMatching(/^\d{10}$/),
    'x-signature': expect.stringMatching(/^[\w+/]{43}=$/),
  });
});

test('a profile has no secret and no personal data', async () => {
  await using service = await startStranger({ ...strangers[0].choices, now: strangers[0].now });
  const output = path.join(folder, 'profile.json');
  const { code, stdout, stderr } = await run(service.url, '--output', output);
  expect(code, stderr).toBe(0);
  const written = readFileSync(output, 'utf8');
  const printed = written + stdout + stderr;
  for (const part of [apiKey, apiSecret, signingSecret, 'session', ...Object.values(owner)]) {
    expect(printed).not.toContain(String(part));
  }
  expect(JSON.parse(written)).toEqual(JSON.parse(stdout));
  expect(stderr).toContain('not learned: callbacks: callbacks are received only with --listen');
});
