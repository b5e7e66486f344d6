import { Agent, buildConnector } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createClient,
  created,
  failureOf,
  httpAnswer,
  order,
  type RawRequest,
  record,
  refusedPort,
  startRawServer,
  type TransportOptions,
  transports,
  withoutJitter,
} from './raw-server.js';

const reset = ({ socket }: RawRequest): undefined => void socket.resetAndDestroy();
const busy = httpAnswer(429, { code: 'RATE_LIMITED', message: 'm' }, { 'retry-after': '0' });
const cutOff = ({ socket }: RawRequest): undefined =>
  void socket.end('HTTP/1.1 201 Created\r\ncontent-length: 9\r\n\r\n{');
const broken = httpAnswer(500, { code: 'BROKEN', message: 'm' });
type Step = string | ((request: RawRequest) => undefined);

/** Answers by the list, its last entry for ever. */
function startScripted(...steps: Step[]) {
  return startRawServer({
    answer: (request, index) => {
      const step = steps[Math.min(index, steps.length - 1)] as Step;
      return typeof step === 'string' ? step : step(request);
    },
  });
}

describe.each(transports)('how often a request is sent, with $name', ({ options }) => {
  it.each<[string, Step]>([
    ['a reset after it was read', reset],
    ['a 500', broken],
    ['a 502', httpAnswer(502, '<html>')],
    ['a 503 with Retry-After', httpAnswer(503, '', { 'retry-after': '0' })],
    ['a 400', httpAnswer(400)],
    ['a 401', httpAnswer(401)],
    ['a 408', httpAnswer(408, '', { 'retry-after': '0' })],
    ['a 409', httpAnswer(409)],
    ['a garbage status line', 'nothing of HTTP\r\n\r\n'],
  ])('once after %s', async (_what, step) => {
    withoutJitter();
    const server = await startScripted(step, created);
    await failureOf(createClient(server.url, options).payments.create(order));
    expect(server.requests).toHaveLength(1);
  });

  it('again after a 429, and the answer tells how many it took', async () => {
    withoutJitter();
    const server = await startScripted(busy, busy, created);
    const { payment, response } = await createClient(server.url, options).payments.create(order);
    expect(payment).toEqual(record);
    expect(response.attempts).toBe(3);
    expect(new Set(server.requests.map(({ body }) => body)).size).toBe(1);
    expect(server.requests).toHaveLength(3);
  });

  it('three times at most by default', async () => {
    withoutJitter();
    const server = await startScripted(busy);
    const error = await failureOf(createClient(server.url, options).payments.create(order));
    expect(error).toMatchObject({ serviceCode: 'RATE_LIMITED', requestOutcome: 'rejected' });
    expect(server.requests).toHaveLength(3);
  });

  it.each([
    ['a 429', busy],
    ['a 500', broken],
  ])('once after %s with maxRetries 0', async (_what, step) => {
    const server = await startScripted(step);
    const idempotency = 'merchantPaymentReference';
    const client = createClient(server.url, { ...options, maxRetries: 0, idempotency });
    await failureOf(client.payments.create(order));
    expect(server.requests).toHaveLength(1);
  });

  it('as often as the call says, over what the client says', async () => {
    withoutJitter();
    const server = await startScripted(busy);
    const client = createClient(server.url, { ...options, maxRetries: 0 });
    await failureOf(client.request({ method: 'GET', path: '/api/x' }, { maxRetries: 4 }));
    expect(server.requests).toHaveLength(5);
  });

  it.each([
    ['a reset', reset],
    ['a 500', broken],
  ])('again after %s, if the service recognises repetitions', async (_what, step) => {
    withoutJitter();
    for (const idempotency of ['merchantPaymentReference', { header: 'key' }] as const) {
      const server = await startScripted(step, created);
      const client = createClient(server.url, { ...options, idempotency });
      expect((await client.payments.create(order)).response.attempts).toBe(2);
      expect(server.requests).toHaveLength(2);
    }
  });

  it.each([
    ['a reset', reset],
    ['a 500', broken],
  ])(
    'once after %s of another operation, whose repetitions it may not recognise',
    async (_what, step) => {
      const server = await startScripted(step, created);
      const client = createClient(server.url, {
        ...options,
        idempotency: 'merchantPaymentReference',
      });
      const error = await failureOf(client.request({ method: 'POST', path: '/x', body: order }));
      expect(error).toMatchObject({ requestOutcome: 'unknown' });
      expect(server.requests).toHaveLength(1);
    },
  );

  it('once after a 429 whose Retry-After is as long as the whole deadline', async () => {
    const server = await startScripted(httpAnswer(429, '', { 'retry-after': '30' }), created);
    const error = await failureOf(createClient(server.url, options).payments.create(order));
    expect(error).toMatchObject({
      code: 'API_ERROR',
      httpStatus: 429,
      retryAfterSeconds: 30,
      requestOutcome: 'rejected',
    });
    expect(server.requests).toHaveLength(1);
  });

  it.each([
    ['ahead, the wait within the deadline', 600_000, 0, 2],
    ['behind, the wait within the deadline', -600_000, 0, 2],
    ['ahead, the wait beyond it', 600_000, 31_000, 1],
    ['behind, the wait beyond it', -600_000, 31_000, 1],
  ])('by a date of a service whose clock is %s', async (_what, offsetMs, waitMs, requests) => {
    withoutJitter();
    const utc = (ms: number) => new Date(Date.now() + offsetMs + ms).toUTCString();
    const headers = { date: utc(0), 'retry-after': utc(waitMs) };
    const server = await startScripted(httpAnswer(429, '', headers), created);
    await createClient(server.url, options)
      .payments.create(order)
      .catch(() => undefined);
    expect(server.requests).toHaveLength(requests);
  });
});

describe.each(transports)('a safe method, with $name', ({ options }) => {
  const get = { method: 'get', path: '/api/payments' };

  it.each<[string, Step]>([
    ['a reset after it was read', reset],
    ['a 500', broken],
    ['a 503', httpAnswer(503, '', { 'retry-after': '0' })],
    ['a 408', httpAnswer(408)],
    ['a 429', busy],
    [
      'its body broke off',
      ({ socket }) => void socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{'),
    ],
  ])('is sent again after %s', async (_what, step) => {
    withoutJitter();
    const server = await startScripted(step, httpAnswer(200, { found: 1 }));
    const { body, attempts } = await createClient(server.url, options).request(get);
    expect([body, attempts]).toEqual([{ found: 1 }, 2]);
  });

  it.each<[string, Step, object, boolean]>([
    ['a reset', reset, { code: 'CONNECTION_FAILED', requestOutcome: 'unknown' }, true],
    ['a 500', broken, { httpStatus: 500, requestOutcome: 'unknown' }, true],
    ['a 404', httpAnswer(404), { httpStatus: 404, requestOutcome: 'rejected' }, false],
    ['a 409', httpAnswer(409), { httpStatus: 409, requestOutcome: 'rejected' }, false],
    ['a redirect', httpAnswer(302), { httpStatus: 302, requestOutcome: 'unknown' }, false],
    [
      'a body that is too large',
      httpAnswer(200, 'a'.repeat(100)),
      { code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' },
      false,
    ],
  ])(
    'that ends with %s is not said to create a payment',
    async (_what, step, fields, safeToRetry) => {
      const server = await startScripted(step);
      const client = createClient(server.url, { ...options, maxRetries: 0, maxResponseBytes: 64 });
      const error = await failureOf(client.request(get));
      expect(error).toMatchObject({ ...fields, safeToRetry });
      expect(error.message).not.toMatch(/again blindly|do not send|payment\b(?! *s)|callback/);
      expect(error.message.includes('safe to try again')).toBe(safeToRetry);
      expect(error.message).toMatch(/\.$/);
    },
  );
});

describe('whether a call may be made again, by the failures of a creation', () => {
  it.each<[string, Step[], string, boolean, number]>([
    ['a 429', [busy], 'rejected', true, 2],
    ['a reset', [reset], 'unknown', false, 2],
    ['a 303', [httpAnswer(303)], 'unknown', false, 1],
    ['a 400', [httpAnswer(400)], 'rejected', false, 1],
    ['a 201 that broke off', [cutOff], 'accepted', false, 1],
    ['a 500, then a 429', [broken, busy], 'unknown', false, 2],
    ['a 500, then a 400', [broken, httpAnswer(400)], 'unknown', false, 2],
    ['a 500, then a 201 that broke off', [broken, cutOff], 'accepted', false, 2],
    ['a 429, then a 400', [busy, httpAnswer(400)], 'rejected', false, 2],
    ['a 429, then a 500', [busy, broken], 'unknown', false, 2],
  ])('%s', async (_what, steps, requestOutcome, safeToRetry, requests) => {
    withoutJitter();
    const server = await startScripted(...steps);
    const client = createClient(server.url, {
      maxRetries: 1,
      idempotency: 'merchantPaymentReference',
    });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ requestOutcome, safeToRetry });
    expect(error.message.includes('safe to try again')).toBe(safeToRetry);
    expect(server.requests).toHaveLength(requests);
  });
});

describe('a connection that is refused on some attempts', () => {
  /** Sends its first connection, or all but it, to a port that refuses. */
  async function refusing(port: number, isRefused: (attempt: number) => boolean) {
    const connect = buildConnector({});
    const closed = await refusedPort();
    let attempts = 0;
    const agent = new Agent({
      connect: (given, done) => {
        attempts += 1;
        connect({ ...given, port: String(isRefused(attempts) ? closed : port) }, done);
      },
    });
    onTestFinished(() => agent.destroy());
    withoutJitter();
    return { options: { dispatcher: agent } satisfies TransportOptions, attempts: () => attempts };
  }

  it('is tried again, and the call succeeds', async () => {
    const server = await startScripted(created);
    const { options } = await refusing(server.port, (attempt) => attempt === 1);
    const { response } = await createClient(server.url, options).payments.create(order);
    expect(response.attempts).toBe(2);
    expect(server.requests).toHaveLength(1);
  });

  it('after an attempt with an unknown outcome leaves it unknown', async () => {
    const server = await startScripted(reset);
    const { options, attempts } = await refusing(server.port, (attempt) => attempt > 1);
    const client = createClient(server.url, {
      ...options,
      idempotency: 'merchantPaymentReference',
    });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect(error.message).toContain('got no connection (ECONNREFUSED). The service may have');
    expect(attempts()).toBe(3);
  });

  it('after a 429 leaves the request rejected', async () => {
    const closing = httpAnswer(429, '', { 'retry-after': '0', connection: 'close' });
    const server = await startScripted(closing);
    const { options } = await refusing(server.port, (attempt) => attempt > 1);
    const error = await failureOf(createClient(server.url, options).payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'rejected' });
  });
});
