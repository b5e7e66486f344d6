import diagnostics from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { Agent, type Dispatcher } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createClient,
  created,
  failureOf,
  holdDeadline,
  order,
  startRawServer,
} from '../raw-server.js';

type Handler = Required<Dispatcher.DispatchHandler>;
const controller = {
  abort() {},
  pause() {},
  resume() {},
} as unknown as Dispatcher.DispatchController;

describe('of a dispatcher that calls its handlers too often,', () => {
  it('an abort that throws leaves the outcome, and the process, alone', async () => {
    const { timeoutMs, expire } = holdDeadline();
    const abort = () => expect.fail('not caught');
    const dispatcher = dispatcherOf((handler) => {
      handler.onRequestStart({ ...controller, abort } as unknown as typeof controller, {});
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

it('a dispatcher that goes on after the largest body changes nothing', async () => {
  const dispatcher = dispatcherOf((handler) => {
    handler.onRequestStart(controller, {});
    handler.onResponseStart(controller, 201, {}, 'Created');
    for (let sent = 0; sent < 3; sent += 1) handler.onResponseData(controller, Buffer.alloc(8));
    handler.onResponseEnd(controller, {});
  });
  const client = createClient('https://payments.invalid', { dispatcher, maxResponseBytes: 8 });
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'RESPONSE_UNUSABLE', requestOutcome: 'accepted' });
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

it('a dispatcher of the user sends a POST without a body', async () => {
  const dispatcher = new Agent();
  onTestFinished(() => dispatcher.destroy());
  const server = await startRawServer({ answer: () => created });
  const client = createClient(server.url, { dispatcher });
  await client.request({ method: 'POST', path: '/x' });
  expect(server.requests).toMatchObject([{ line: 'POST /x HTTP/1.1', body: '' }]);
});
