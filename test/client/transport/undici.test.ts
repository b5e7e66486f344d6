import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Agent, type Dispatcher, interceptors, MockAgent, RetryAgent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  authorization,
  connectionsClosed,
  createClient,
  created,
  failureOf,
  holdDeadline,
  httpAnswer,
  order,
  record,
  startRawServer,
  withoutJitter,
} from '../raw-server.js';

type Handler = Required<Dispatcher.DispatchHandler>;
const controller = {
  abort() {},
  pause() {},
  resume() {},
} as unknown as Dispatcher.DispatchController;

const agent = (): Agent => {
  const made = new Agent();
  onTestFinished(() => made.destroy());
  return made;
};

it('a MockAgent works as dispatcher', async () => {
  const dispatcher = new MockAgent();
  onTestFinished(() => dispatcher.close());
  dispatcher.disableNetConnect();
  dispatcher
    .get('https://payments.example')
    .intercept({ path: '/v2/api/payments', method: 'POST', headers: { authorization } })
    .reply(201, record, { headers: { 'content-type': 'application/json' } });
  const client = createClient('https://payments.example/v2', { dispatcher });
  const { payment, response } = await client.payments.create(order);
  expect(payment).toEqual(record);
  expect(response.attempts).toBe(1);
  dispatcher.assertNoPendingInterceptors();
});

it('a MockAgent that replies with an error is a failure with an outcome', async () => {
  const dispatcher = new MockAgent();
  onTestFinished(() => dispatcher.close());
  dispatcher
    .get('https://payments.example')
    .intercept({ path: '/api/payments', method: 'POST' })
    .reply(401, { code: 'INVALID_CREDENTIALS', message: 'Invalid credentials.' });
  const client = createClient('https://payments.example', { dispatcher });
  expect(await failureOf(client.payments.create(order))).toMatchObject({
    code: 'INVALID_CREDENTIALS',
    requestOutcome: 'rejected',
  });
});

it.each([
  ['a 503', () => httpAnswer(503, '', { 'retry-after': '0' })],
  [
    'a reset',
    ({ socket }: { socket: { resetAndDestroy(): unknown } }) => void socket.resetAndDestroy(),
  ],
])('a RetryAgent as dispatcher cannot send a payment again after %s', async (_what, answer) => {
  const server = await startRawServer({ answer });
  const dispatcher = new RetryAgent(agent(), {
    methods: ['POST'],
    minTimeout: 1,
    maxRetries: 2,
    retryAfter: false,
  });
  const client = createClient(server.url, { dispatcher });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ requestOutcome: 'unknown' });
  await createBarrier(dispatcher, server);
  expect(server.requests.filter(({ line }) => line.startsWith('POST'))).toHaveLength(1);
});

it('a dispatcher that follows redirects cannot carry the request elsewhere', async () => {
  const target = await startRawServer({ answer: () => created });
  const server = await startRawServer({
    answer: () => httpAnswer(307, '', { location: `${target.url}/api/payments` }),
  });
  const dispatcher = agent().compose(interceptors.redirect({ maxRedirections: 3 }));
  const error = await failureOf(createClient(server.url, { dispatcher }).payments.create(order));
  expect(error).toMatchObject({ code: 'API_ERROR', httpStatus: 307 });
  expect(server.requests).toHaveLength(1);
  expect(target.requests).toHaveLength(0);
});

describe('of a dispatcher that calls its handlers too often,', () => {
  it('what follows the cancellation of the call changes nothing', async () => {
    const { timeoutMs, expire } = holdDeadline();
    let handler: Handler | undefined;
    const dispatcher = dispatcherOf((given) => {
      handler = given;
      given.onRequestStart(controller, {});
      setImmediate(expire);
    });
    const client = createClient('https://payments.invalid', { dispatcher });
    const error = await failureOf(client.payments.create(order, { timeoutMs }));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'unknown' });
    handler?.onResponseStart(controller, 201, {});
    handler?.onResponseData(controller, Buffer.from('{}'));
    handler?.onResponseEnd(controller, {});
    handler?.onResponseError(controller, new Error('late'));
  });

  it('an abort that throws leaves the outcome, and the process, alone', async () => {
    const { timeoutMs, expire } = holdDeadline();
    const throwing = { ...controller, abort: () => expect.fail('not caught') };
    const dispatcher = dispatcherOf((handler) => {
      handler.onRequestStart(throwing as unknown as Dispatcher.DispatchController, {});
      setImmediate(expire);
    });
    const client = createClient('https://payments.invalid', { dispatcher });
    const error = await failureOf(client.payments.create(order, { timeoutMs }));
    expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'unknown' });
  });

  it('a second start of a payment stops it, and leaves the outcome unknown', async () => {
    const aborted: unknown[] = [];
    const second = { ...controller, abort: (reason: Error) => void aborted.push(reason.message) };
    const dispatcher = dispatcherOf((handler) => {
      handler.onRequestStart(controller, {});
      handler.onRequestStart(second as unknown as Dispatcher.DispatchController, {});
    });
    const client = createClient('https://payments.invalid', { dispatcher });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect(aborted).toEqual(['The request was sent before']);
  });

  it.each([
    ['a text without a length', { 'content-type': 'text/plain' }],
    [
      'chunks that are no JSON',
      { 'content-type': 'application/json', 'transfer-encoding': 'chunked' },
    ],
  ])('%s is a body like any other', async (_what, headers) => {
    const dispatcher = dispatcherOf((handler) => {
      handler.onRequestStart(controller, {});
      handler.onResponseStart(controller, 201, headers);
      handler.onResponseData(controller, Buffer.from('created'));
      handler.onResponseEnd(controller, {});
    });
    const client = createClient('https://payments.invalid', { dispatcher });
    expect((await client.payments.create(order)).response.body).toBe('created');
  });

  it.each([
    [{ code: 'UND_ERR_RESPONSE', statusCode: 503, body: 'down' }, 'API_ERROR', 'unknown'],
    [{ code: 'UND_ERR_REQ_RETRY', statusCode: 201, headers: {} }, 'RESPONSE_UNUSABLE', 'accepted'],
    [{ code: 'UND_ERR_RESPONSE' }, 'CONNECTION_FAILED', 'unknown'],
    [undefined, 'CONNECTION_FAILED', 'unknown'],
  ])('an error made of an answer, %j, is %s', async (fields, code, requestOutcome) => {
    const dispatcher = dispatcherOf((handler) => {
      handler.onRequestStart(controller, {});
      const error = fields && Object.assign(new Error('Response error'), fields);
      handler.onResponseError(controller, error as Error);
    });
    const client = createClient('https://payments.invalid', { dispatcher });
    expect(await failureOf(client.payments.create(order))).toMatchObject({ code, requestOutcome });
  });

  it('an error after the end of the answer changes nothing', async () => {
    const dispatcher = dispatcherOf((handler) => {
      handler.onRequestStart(controller, {});
      handler.onResponseStart(controller, 201, { 'content-type': 'application/json' });
      handler.onResponseData(controller, Buffer.from(JSON.stringify(record)));
      handler.onResponseEnd(controller, {});
      handler.onResponseError(controller, new Error('late'));
    });
    const client = createClient('https://payments.invalid', { dispatcher });
    expect((await client.payments.create(order)).payment).toEqual(record);
  });

  it.each<[string, (handler: Handler) => void]>([
    ['a late end', (handler) => handler.onResponseEnd(controller, {})],
    ['a late error', (handler) => handler.onResponseError(controller, new Error('late'))],
  ])('%s of the first attempt does not take the deadline from the next', async (_what, tell) => {
    withoutJitter();
    const { timeoutMs, expire } = holdDeadline();
    let first: Handler | undefined;
    let goOn = (): void => {};
    const dispatched = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const dispatcher = dispatcherOf((handler) => {
      if (first === undefined) {
        first = handler;
        handler.onResponseError(controller, new Error('refused'));
      } else {
        tell(first);
        goOn();
      }
    });
    const client = createClient('https://payments.invalid', { dispatcher, timeoutMs });
    const failure = failureOf(client.payments.create(order));
    await dispatched;
    expire();
    expect(await failure).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'not-sent' });
  });
});

it('a dispatcher is held to maxResponseBytes', async () => {
  const server = await startRawServer({ answer: () => created });
  const client = createClient(server.url, { dispatcher: agent(), maxResponseBytes: 10 });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
  expect(error.message).toContain('with a body larger than maxResponseBytes');
});

it('callers that are answered in one turn of the event loop go on over the connections they have', async () => {
  const callers = 8;
  const answered: Socket[] = [];
  const server = await startRawServer({
    answer({ socket }) {
      if (answered.push(socket) < callers) return undefined;
      for (const one of answered.splice(0)) one.write(created);
      return undefined;
    },
  });
  const client = createClient(server.url);
  const callTwice = async () => {
    await client.payments.create(order);
    await client.payments.create(order);
  };
  await Promise.all(Array.from({ length: callers }, callTwice));
  expect(new Set(server.requests.map(({ connection }) => connection)).size).toBe(callers);
});

it('a client that is closed ends its connections, which the server would keep', async () => {
  const server = await startRawServer({
    answer: () => httpAnswer(201, record, { 'keep-alive': 'timeout=600' }),
  });
  const client = createClient(server.url);
  await client.payments.create(order);
  await client.close();
  await connectionsClosed(server);
});

describe('undici reports to its watchers, such as OpenTelemetry', () => {
  it('a call that was cancelled', async () => {
    const server = await startRawServer({});
    const failures = watchFailures(server.url);
    const caller = new AbortController();
    const client = createClient(server.url);
    const failure = failureOf(client.payments.create(order, { signal: caller.signal }));
    await server.received(1);
    caller.abort();
    await failure;
    await client.close();
    expect(failures).toEqual(['The call was cancelled']);
  });

  it('one that was cancelled while it waited for a connection', async () => {
    const server = await startRawServer({
      answer: (_request, index) => (index === 0 ? undefined : created),
    });
    const failures = watchFailures(server.url);
    const dispatcher = new Agent({ connections: 1 });
    onTestFinished(() => dispatcher.destroy());
    const client = createClient(server.url, { dispatcher });
    const first = client.payments.create(order);
    await server.received(1);
    const caller = new AbortController();
    const second = failureOf(client.payments.create(order, { signal: caller.signal }));
    const third = client.payments.create(order);
    // The calls reach the dispatcher in a microtask.
    await new Promise(setImmediate);
    caller.abort();
    await second;
    server.requests[0]?.socket.write(created);
    await Promise.all([first, third]);
    expect(failures).toEqual(['The call was cancelled']);
  });

  it('a body that is too large', async () => {
    const server = await startRawServer({ answer: () => created });
    const failures = watchFailures(server.url);
    const client = createClient(server.url, { maxResponseBytes: 10 });
    await failureOf(client.payments.create(order));
    await client.close();
    expect(failures).toEqual(['The body is larger than maxResponseBytes']);
  });
});

it('refuses to send after the deadline, although its timer has not run', async () => {
  let refusal: unknown;
  const dispatcher = dispatcherOf((handler) => {
    const endsAtMs = performance.now() + 20;
    while (performance.now() <= endsAtMs);
    try {
      handler.onRequestStart?.({ abort() {} } as never, {});
    } catch (error) {
      refusal = error;
    }
  });
  const client = createClient('https://payments.invalid', { dispatcher, timeoutMs: 20 });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'not-sent' });
  expect(refusal).toMatchObject({ message: 'The call was cancelled' });
});

/** Tells each request's handler what the test likes. */
function dispatcherOf(tell: (handler: Handler) => void): Agent {
  return {
    dispatch(_options: object, handler: Handler) {
      tell(handler);
      return true;
    },
  } as unknown as Agent;
}

/** The texts with which requests to that server fail in undici's diagnostics. */
function watchFailures(url: string): string[] {
  const texts: string[] = [];
  const keep = (event: unknown): void => {
    const { request, error } = event as { request: { origin: string }; error: Error };
    if (request.origin === url) texts.push(error.message);
  };
  diagnostics.subscribe('undici:request:error', keep);
  onTestFinished(() => void diagnostics.unsubscribe('undici:request:error', keep));
  return texts;
}

/** Another request by the same dispatcher: what was to be sent before it has been sent. */
async function createBarrier(
  dispatcher: RetryAgent,
  server: { url: string; requests: readonly unknown[] },
): Promise<void> {
  const client = createClient(server.url, { dispatcher, maxRetries: 0 });
  await failureOf(client.request({ method: 'GET', path: '/barrier' }));
}
