import { tracingChannel } from 'node:diagnostics_channel';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { observeRequest } from '../../src/client/observation.js';
import { recordLines } from '../protocol/recorded-lines.js';
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
  schemaOf,
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

const keysOf = (events: readonly Event[]) => events.map(({ name, keys }) => [name, keys]);
const ofSuccess = (begun: readonly string[], all: readonly string[]) => [
  ['start', begun],
  ['end', begun],
  ['asyncStart', [...all, 'result'].sort()],
  ['asyncEnd', [...all, 'result'].sort()],
];

describe('the tracing channel merchant-payments:request', () => {
  it('tells exactly these keys about a success', async () => {
    const events = recordEvents();
    const server = await startRawServer({ answer: () => httpAnswer(201, { requestId }) });
    const beforeMs = performance.now();
    await createClient(`${server.url}/v2`).request({ method: 'GET', path: '/orders?of=hunter2' });
    const tookMs = performance.now() - beforeMs;
    const all = [...ended, 'requestId', 'status'].sort();
    expect(keysOf(events)).toEqual(ofSuccess(started, all));
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
    expect(events.at(-1)?.context['durationMs']).toBeGreaterThan(0);
    expect(events.at(-1)?.context['durationMs']).toBeLessThanOrEqual(tookMs);
  });

  it('tells exactly these keys about a failure, and the error that the caller gets', async () => {
    const events = recordEvents();
    const answer = httpAnswer(422, { code: 'NO', message: 'm', requestId });
    const server = await startRawServer({ answer: () => answer });
    const error = await failureOf(createClient(server.url).payments.create(order));
    const all = [...ended, 'error', 'requestId', 'status'].sort();
    expect(keysOf(events).slice(2)).toEqual([
      ['error', all],
      ['asyncStart', all],
      ['asyncEnd', all],
    ]);
    expect(events.at(-1)?.context).toMatchObject({ status: 422, requestId, outcome: 'rejected' });
    expect(events.at(-1)?.context['error']).toBe(error);
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
    expect(keysOf(calls)).toEqual(ofSuccess(begun, all));
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
    const responseSchema = schemaOf(() => ({ issues: [{ message: 'no' }] }));
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
});

describe('the context of the caller', () => {
  const logContext = { ['n'.repeat(64)]: 't'.repeat(256), job: 12, isTest: true };

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
    ['too many fields', Object.fromEntries(Array(17).entries()), /at most 16 fields/],
    ['a long name', { ['n'.repeat(65)]: 1 }, /names such as orderId \(up to 64 characters\)/],
    ['a long text', { tenant: 't'.repeat(257) }, /texts up to 256 characters/],
    ['NaN', { tenant: Number.NaN }, /finite numbers/],
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

it('passes on a defect of the package to caller and subscribers', async () => {
  const events = recordEvents();
  const call = { client: {} } as Parameters<typeof observeRequest>[0]['call'];
  const defect = new TypeError('a defect');
  const observed = observeRequest(
    { call } as Parameters<typeof observeRequest>[0],
    { attempts: 0 } as Parameters<typeof observeRequest>[1],
    () => Promise.reject(defect),
  );
  await expect(observed).rejects.toBe(defect);
  expect(events.at(-1)?.context['error']).toBe(defect);
});
