import { tracingChannel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Credentials } from '../../src/client/credentials.js';
import {
  type AttemptResult,
  type CallTrace,
  observeCall,
  observeRequest,
} from '../../src/client/observation.js';
import { resolveClientOptions } from '../../src/client/options.js';
import { prepareRequest, toRequest } from '../../src/client/prepared-request.js';
import { InvalidOptionError } from '../../src/errors.js';
import { Redactor } from '../../src/protocol/redaction.js';
import { failingLoggers, recordLines } from '../protocol/recorded-lines.js';
import {
  apiKey,
  apiSecret,
  createClient,
  created,
  failureOf,
  httpAnswer,
  order,
  record,
  refusedPort,
  startRawServer,
  withoutJitter,
} from './raw-server.js';

interface Event {
  readonly name: string;
  /** The keys that the context had at the time of the event. */
  readonly keys: readonly string[];
  readonly context: Record<string, unknown>;
}

const eventNames = ['start', 'end', 'asyncStart', 'asyncEnd', 'error'] as const;

function recordEvents(channelName = 'merchant-payments:request'): Event[] {
  const events: Event[] = [];
  const listeners = Object.fromEntries(
    eventNames.map((name) => [
      name,
      (message: unknown) => {
        const context = message as Record<string, unknown>;
        events.push({ name, keys: Object.keys(context).sort(), context: { ...context } });
      },
    ]),
  ) as Record<(typeof eventNames)[number], (message: unknown) => void>;
  const channel = tracingChannel<object, object>(channelName);
  channel.subscribe(listeners);
  onTestFinished(() => void channel.unsubscribe(listeners));
  return events;
}

const requestId = '0e5f1a52-8f4c-4f0a-9a43-2f1d0c9b7e11';
const subject = ['method', 'path', 'serverAddress', 'serverPort'];
const started = ['attempt', 'call', ...subject].sort();
const ended = [...started, 'durationMs', 'outcome'];

describe('the tracing channel merchant-payments:request', () => {
  it('tells exactly these keys about a success', async () => {
    const events = recordEvents();
    const server = await startRawServer({ answer: () => httpAnswer(201, { requestId }) });
    await createClient(`${server.url}/v2`).request({ method: 'GET', path: '/orders?of=hunter2' });
    const all = [...ended, 'requestId', 'status'].sort();
    expect(events.map(({ name, keys }) => [name, keys])).toEqual([
      ['start', started],
      ['end', started],
      ['asyncStart', [...all, 'result'].sort()],
      ['asyncEnd', [...all, 'result'].sort()],
    ]);
    expect(events.at(-1)?.context).toEqual({
      method: 'GET',
      path: '/v2/orders',
      serverAddress: '127.0.0.1',
      serverPort: server.port,
      attempt: 1,
      call: expect.objectContaining({ operation: 'request', attempts: 1 }),
      status: 201,
      durationMs: expect.any(Number),
      requestId,
      outcome: 'accepted',
      result: undefined,
    });
  });

  it('tells exactly these keys about a failure, and the error that the caller gets', async () => {
    const events = recordEvents();
    const answer = httpAnswer(422, { code: 'NO', message: 'm', requestId });
    const server = await startRawServer({ answer: () => answer });
    const error = await failureOf(createClient(server.url).payments.create(order));
    const all = [...ended, 'error', 'requestId', 'status'].sort();
    expect(events.map(({ name, keys }) => [name, keys])).toEqual([
      ['start', started],
      ['end', started],
      ['error', all],
      ['asyncStart', all],
      ['asyncEnd', all],
    ]);
    expect(events.at(-1)?.context).toMatchObject({ status: 422, requestId, outcome: 'rejected' });
    expect(events.at(-1)?.context['error']).toBe(error);
  });

  it('tells no status and no requestId without an answer', async () => {
    const events = recordEvents();
    const server = await startRawServer({ answer: ({ socket }) => void socket.resetAndDestroy() });
    await failureOf(createClient(server.url).payments.create(order));
    expect(events.at(-1)?.keys).toEqual([...ended, 'error'].sort());
    expect(events.at(-1)?.context).toMatchObject({ outcome: 'unknown' });
  });

  it('tells each attempt by itself', async () => {
    withoutJitter();
    const events = recordEvents();
    const server = await startRawServer({
      answer: (_request, index) => (index === 0 ? httpAnswer(429) : created),
    });
    await createClient(server.url).payments.create(order);
    const ends = events.filter(({ name }) => name === 'asyncEnd').map(({ context }) => context);
    expect(ends).toMatchObject([
      { attempt: 1, status: 429, outcome: 'rejected' },
      { attempt: 2, status: 201, outcome: 'accepted' },
    ]);
    expect(events.filter(({ name }) => name === 'error')).toHaveLength(1);
  });
});

describe('the tracing channel merchant-payments:call', () => {
  const recordCalls = () => recordEvents('merchant-payments:call');

  it.each([
    ['that is not of the package', new TypeError('broken'), []],
    ['without an outcome', new InvalidOptionError('path', 'path is missing'), ['code']],
  ])('claims nothing of an error %s', async (_, error, known) => {
    const calls = recordCalls();
    const call = {
      operation: 'request',
      method: 'GET',
      path: '/',
      url: 'http://localhost/',
    } as const;
    const trace = { ...call, serverAddress: 'localhost', serverPort: 80, attempts: 0 };
    const begun = Object.keys(trace);
    await expect(observeCall(trace, () => Promise.reject(error))).rejects.toBe(error);
    expect(calls.at(-1)?.keys).toEqual([...begun, 'durationMs', 'error', ...known].sort());
  });

  const callEnded = [...subject, 'attempts', 'durationMs', 'operation', 'outcome', 'url'];

  it('tells exactly these keys about a call, which has all its attempts', async () => {
    withoutJitter();
    const calls = recordCalls();
    const attempts = recordEvents();
    const answers = [httpAnswer(429), httpAnswer(429), httpAnswer(201, { requestId })];
    const server = await startRawServer({ answer: (_request, index) => answers[index] });
    await createClient(server.url).payments.create(order);
    const begun = [...subject, 'attempts', 'operation', 'url'].sort();
    const all = [...callEnded, 'requestId', 'status'].sort();
    expect(calls.map(({ name, keys }) => [name, keys])).toEqual([
      ['start', begun],
      ['end', begun],
      ['asyncStart', [...all, 'result'].sort()],
      ['asyncEnd', [...all, 'result'].sort()],
    ]);
    expect(calls.at(-1)?.context).toEqual({
      operation: 'payments.create',
      method: 'POST',
      path: '/api/payments',
      url: `${server.url}/api/payments`,
      serverAddress: '127.0.0.1',
      serverPort: server.port,
      attempts: 3,
      status: 201,
      requestId,
      outcome: 'accepted',
      durationMs: expect.any(Number),
      result: undefined,
    });
    const ends = attempts.filter(({ name }) => name === 'asyncEnd');
    expect(ends.map(({ context }) => context['attempt'])).toEqual([1, 2, 3]);
    expect(new Set(ends.map(({ context }) => context['call'])).size).toBe(1);
  });

  it('tells of a failure its code, its outcome and the error that the caller gets', async () => {
    const calls = recordCalls();
    const answer = httpAnswer(422, { code: 'NO_SUCH_SHOP', requestId });
    const server = await startRawServer({ answer: () => answer });
    const error = await failureOf(createClient(server.url).payments.create(order));
    expect(calls.at(-1)?.keys).toEqual(
      [...callEnded, 'code', 'error', 'requestId', 'serviceCode', 'status'].sort(),
    );
    expect(calls.at(-1)?.context).toMatchObject({
      status: 422,
      requestId,
      code: 'API_ERROR',
      serviceCode: 'NO_SUCH_SHOP',
      outcome: 'rejected',
    });
    expect(calls.at(-1)?.context['error']).toBe(error);
  });

  it('tells no status and no requestId when the last request had no answer', async () => {
    withoutJitter();
    const calls = recordCalls();
    const server = await startRawServer({
      answer: ({ socket }, index) =>
        index === 0 ? httpAnswer(429, { requestId }) : void socket.resetAndDestroy(),
    });
    await failureOf(createClient(server.url).payments.create(order));
    expect(calls.at(-1)?.keys).toEqual([...callEnded, 'code', 'error'].sort());
    expect(calls.at(-1)?.context).toMatchObject({ attempts: 2, outcome: 'unknown' });
  });

  it('tells of a call that fails before it sends', async () => {
    const calls = recordCalls();
    const client = createClient('https://[::1]', {
      apiKey: () => Promise.reject(new Error('the vault is sealed')),
    });
    await failureOf(client.payments.create(order));
    expect(calls.at(-1)?.context).toMatchObject({
      serverAddress: '::1',
      serverPort: 443,
      attempts: 0,
      outcome: 'not-sent',
      code: 'SECRET_UNAVAILABLE',
    });
  });

  it('tells of an answer that does not fit responseSchema', async () => {
    const calls = recordCalls();
    const validate = () => ({ issues: [{ message: 'no' }] });
    const responseSchema = { '~standard': { version: 1, vendor: 'own', validate } } as const;
    const server = await startRawServer({ answer: () => created });
    const call = createClient(server.url).payments.create(order, { responseSchema });
    await failureOf(call);
    const told = { status: 201, code: 'RESPONSE_UNUSABLE', outcome: 'accepted' };
    expect(calls.at(-1)?.context).toMatchObject(told);
  });

  it('tells nothing of a call whose input is invalid', async () => {
    const calls = recordCalls();
    const client = createClient('http://127.0.0.1:80');
    await failureOf(client.payments.create({ ...order, currency: 'euro' }));
    expect(calls).toEqual([]);
  });

  it.each([
    ['http://localhost', 80],
    ['https://payments.invalid', 443],
    ['https://payments.invalid:8443/v2', 8443],
  ])('tells the port of %s', async (baseUrl, serverPort) => {
    const calls = recordCalls();
    const fetch = async () => Response.json({});
    await createClient(baseUrl, { fetch }).payments.create(order);
    expect(calls[0]?.context).toMatchObject({
      serverAddress: new URL(baseUrl).hostname,
      serverPort,
    });
  });

  it('is told of each of many calls by itself', async () => {
    const calls = recordCalls();
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url);
    await Promise.all(Array.from({ length: 20 }, () => client.payments.create(order)));
    const ends = calls.filter(({ name }) => name === 'asyncEnd');
    expect(ends.map(({ context }) => context['attempts'])).toEqual(Array(20).fill(1));
  });
});

describe('the context of the caller', () => {
  const logContext = { tenant: 'shop-7', job: 12, isTest: true };

  it('is on the call, its requests and their lines', async () => {
    const calls = recordEvents('merchant-payments:call');
    const attempts = recordEvents();
    const { lines, logger } = recordLines();
    const server = await startRawServer({ answer: () => created });
    const client = createClient(server.url, { logger });
    await client.payments.create(order, { logContext });
    await client.request({ method: 'GET', path: '/x' });
    for (const shown of [calls[0]?.context, attempts[0]?.context, lines[0]?.fields]) {
      expect(shown).toMatchObject({ context: logContext });
    }
    expect(lines[1]?.fields).not.toHaveProperty('context');
  });

  it.each([
    ['no object', 'tenant', /an object of texts, numbers and booleans; received/],
    ['a list', ['tenant'], /received an array/],
    ['too many fields', Object.fromEntries(Array(17).entries()), /at most 16 fields/],
    ['a long name', { ['n'.repeat(65)]: 1 }, /names such as orderId \(up to 64 characters\)/],
    ['an empty name', { '': 1 }, /names such as orderId \(up to 64 characters\)/],
    ['a long text', { tenant: 't'.repeat(257) }, /texts up to 256 characters/],
    ['NaN', { tenant: Number.NaN }, /finite numbers/],
    ['an object', { tenant: {} }, /finite numbers or booleans/],
  ])('are refused when they are %s', async (_what, wrong, message) => {
    const client = createClient('http://127.0.0.1:80');
    const error = await failureOf(client.payments.create(order, { logContext: wrong as never }));
    expect(error).toMatchObject({
      code: 'INVALID_OPTION',
      option: 'logContext',
      requestOutcome: 'not-sent',
      message: expect.stringMatching(message),
    });
  });

  it('may have names and texts of the longest kind', async () => {
    const longest = { ['n'.repeat(64)]: 't'.repeat(256) };
    const calls = recordEvents('merchant-payments:call');
    const server = await startRawServer({ answer: () => created });
    await createClient(server.url).payments.create(order, { logContext: longest });
    expect(calls[0]?.context).toMatchObject({ context: longest });
  });
});

describe('the logger', () => {
  it('gets one line at debug for a success', async () => {
    const { lines, logger } = recordLines();
    const server = await startRawServer({ answer: () => created });
    await createClient(server.url, { logger }).payments.create(order);
    expect(lines).toEqual([
      {
        level: 'debug',
        message: 'merchant-payments: request succeeded',
        fields: {
          method: 'POST',
          path: '/api/payments',
          serverAddress: '127.0.0.1',
          serverPort: server.port,
          attempt: 1,
          status: 201,
          durationMs: expect.any(Number),
          outcome: 'accepted',
        },
      },
    ]);
  });

  it('gets a line at warn for a failure that is retried, and at error for the last', async () => {
    withoutJitter();
    const { lines, logger } = recordLines();
    const serverPort = await refusedPort();
    const baseUrl = `http://127.0.0.1:${serverPort}`;
    await failureOf(createClient(baseUrl, { logger, maxRetries: 1 }).payments.create(order));
    const fields = {
      method: 'POST',
      path: '/api/payments',
      serverAddress: '127.0.0.1',
      serverPort,
      durationMs: expect.any(Number),
      outcome: 'not-sent',
      code: 'CONNECTION_FAILED',
      merchantPaymentReference: 'order-1001',
    };
    expect(lines).toEqual([
      {
        level: 'warn',
        message: 'merchant-payments: request failed, will retry',
        fields: { ...fields, attempt: 1 },
      },
      {
        level: 'error',
        message: 'merchant-payments: request failed',
        fields: { ...fields, attempt: 2 },
      },
    ]);
  });

  it('gets no request body, header or credential', async () => {
    const { lines, logger } = recordLines();
    const server = await startRawServer({
      answer: () => httpAnswer(201, { note: 'in-the-answer' }, { 'x-answer': 'in-a-header' }),
    });
    const client = createClient(server.url, { logger });
    await client.payments.create(order, { extraBody: { note: 'in-the-request' } });
    const text = JSON.stringify(lines);
    for (const marker of ['in-the-answer', 'in-a-header', 'in-the-request', 'order-1001', apiKey]) {
      expect(text).not.toContain(marker);
    }
  });

  it('gets the reference of a payment at warn and error, and no other line, message or span does', async () => {
    withoutJitter();
    const calls = recordEvents('merchant-payments:call');
    const attempts = recordEvents();
    const { lines, logger } = recordLines();
    const later = httpAnswer(429, '', { 'retry-after': '0' });
    const answers = [later, created, httpAnswer(422)];
    const server = await startRawServer({ answer: (_request, index) => answers[index] });
    const client = createClient(server.url, { logger });
    await client.payments.create(order);
    await failureOf(client.payments.create(order));
    const shown = lines.map(({ level, fields }) => [level, fields['merchantPaymentReference']]);
    expect(shown).toEqual([
      ['warn', 'order-1001'],
      ['debug', undefined],
      ['error', 'order-1001'],
    ]);
    expect(calls.length + attempts.length).toBeGreaterThan(0);
    // Without the error, whose request and response are the caller's.
    const messages = [...calls, ...attempts].map(({ context: { error, call, ...rest } }) => rest);
    expect(JSON.stringify(messages)).not.toContain('order-1001');
  });

  it.each([
    ['r'.repeat(300), 'r'.repeat(256)],
    ['a\u001bb\u2028c\n', 'a b c'],
  ])('gets at most 256 characters of a reference, and no control: %j', async (given, shown) => {
    const { lines, logger } = recordLines();
    const server = await startRawServer({ answer: () => httpAnswer(422) });
    const client = createClient(server.url, { logger });
    await failureOf(client.payments.create({ ...order, merchantPaymentReference: given }));
    expect(lines[0]).toMatchObject({
      level: 'error',
      fields: { merchantPaymentReference: shown },
    });
  });

  it('gets no reference of an operation that has none', async () => {
    const { lines, logger } = recordLines();
    const server = await startRawServer({ answer: () => httpAnswer(422) });
    const client = createClient(server.url, { logger });
    await failureOf(client.request({ method: 'POST', path: '/x', body: order }));
    expect(lines[0]).toMatchObject({ level: 'error' });
    expect(lines[0]?.fields).not.toHaveProperty('merchantPaymentReference');
  });

  it.each(
    failingLoggers.flatMap((one) => [
      { ...one, what: 'a success', answer: created },
      { ...one, what: 'a failure', answer: httpAnswer(400) },
    ]),
  )('that $how changes nothing about $what', async ({ logger, answer }) => {
    const server = await startRawServer({ answer: () => answer });
    const call = createClient(server.url, { logger }).payments.create(order);
    if (answer === created) expect((await call).response.status).toBe(201);
    else expect(await failureOf(call)).toMatchObject({ httpStatus: 400 });
  });

  it.each([
    ['no object', httpAnswer(200, '7')],
    ['null', httpAnswer(200, 'null')],
    ['a requestId that is no text', httpAnswer(200, { requestId: [7] })],
  ])('gets no requestId from %s', async (_what, answer) => {
    const { lines, logger } = recordLines();
    const server = await startRawServer({ answer: () => answer });
    await createClient(server.url, { logger }).request({ method: 'GET', path: '/x' });
    expect(lines[0]?.fields).not.toHaveProperty('requestId');
  });
});

it('a request that no one observes is not read for a requestId', async () => {
  const redacted = vi.spyOn(Redactor.prototype, 'redactAll');
  onTestFinished(() => redacted.mockRestore());
  const server = await startRawServer({ answer: () => httpAnswer(200, { requestId }) });
  const client = createClient(server.url);
  await client.request({ method: 'GET', path: '/x' });
  expect(redacted).not.toHaveBeenCalled();
  recordEvents('merchant-payments:call');
  await client.request({ method: 'GET', path: '/x' });
  expect(redacted).toHaveBeenCalled();
});

describe('observeRequest', () => {
  const client = resolveClientOptions({ baseUrl: 'https://payments.invalid', apiKey, apiSecret });
  const call = prepareRequest({ method: 'GET', path: '/x' }, undefined, client);
  const credentials = new Credentials(apiKey, apiSecret);
  const context = { call, credentials, request: toRequest(call, credentials) };
  const startCall = (): CallTrace => ({
    operation: 'request',
    method: 'GET',
    path: '/x',
    url: 'https://payments.invalid/x',
    serverAddress: 'payments.invalid',
    serverPort: 443,
    attempts: 0,
  });
  const success: AttemptResult = {
    response: { status: 200, headers: {}, body: '', text: '', attempts: 1 },
    verdict: { requestOutcome: 'accepted', safeToRetry: false },
    error: undefined,
    retryDelayMs: undefined,
  };

  it('tells how long the work took', async () => {
    const events = recordEvents();
    const beforeMs = performance.now();
    const run = async () => {
      await new Promise(setImmediate);
      return success;
    };
    expect(await observeRequest(context, startCall(), run)).toBe(success);
    const tookMs = performance.now() - beforeMs;
    const durationMs = events.at(-1)?.context['durationMs'];
    expect(durationMs).toBeGreaterThan(0);
    expect(durationMs).toBeLessThanOrEqual(tookMs);
  });

  it('passes on a rejection of the work to caller and subscribers', async () => {
    const events = recordEvents();
    const failure = new Error('a defect');
    const run = () => Promise.reject(failure);
    await expect(observeRequest(context, startCall(), run)).rejects.toBe(failure);
    expect(events.at(-1)?.context['error']).toBe(failure);
  });
});

it('logs each request where the runtime has no tracing channels', async () => {
  // It is looked for once, at the first call.
  vi.resetModules();
  onTestFinished(() => void vi.resetModules());
  const lookUp = vi.spyOn(process, 'getBuiltinModule').mockReturnValue(undefined as never);
  const { PaymentClient } = await import('../../src/client/payment-client.js');
  const server = await startRawServer({ answer: () => created });
  const { lines, logger } = recordLines();
  const { url: baseUrl } = server;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret, logger });
  onTestFinished(() => client.close());
  const events = recordEvents();
  const calling = client.payments.create(order);
  await new Promise(setImmediate);
  lookUp.mockRestore();
  expect((await calling).payment.status).toBe(record.status);
  expect(lines).toMatchObject([
    { level: 'debug', message: 'merchant-payments: request succeeded' },
  ]);
  expect(events).toEqual([]);
});
