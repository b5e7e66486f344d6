import diagnostics from 'node:diagnostics_channel';
import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createClient,
  created,
  failureOf,
  holdDeadline,
  order,
  startRawServer,
} from '../raw-server.js';
import { IN_FLIGHT, named, startStalledServer } from './stalled-server.js';

const nextTurn = () => new Promise((resolve) => setImmediate(resolve));

describe('calls beyond 256 in flight', () => {
  it('go out in the order in which they were made, without the cancelled ones', async () => {
    const server = await startStalledServer();
    const client = createClient(server.url);
    const first = Array.from({ length: IN_FLIGHT }, () => client.payments.create(order));
    await server.received(IN_FLIGHT);
    const { timeoutMs, expire } = holdDeadline();
    const late = failureOf(client.payments.create(named('late'), { timeoutMs }));
    const names = ['a', 'b', 'c', 'd', 'e'];
    const aborted = new AbortController();
    const calls = names.map((name) =>
      name === 'c'
        ? failureOf(client.payments.create(named(name), { signal: aborted.signal }))
        : client.payments.create(named(name)),
    );
    expire();
    aborted.abort();
    expect(await late).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'not-sent' });
    server.requests[0]?.socket.write(created);
    await Promise.all(calls);
    const sent = server.requests.slice(IN_FLIGHT).map(({ body }) => JSON.parse(body));
    expect(sent.map((body) => body.merchantPaymentReference)).toEqual(['a', 'b', 'd', 'e']);
    for (const { socket } of server.requests.slice(1, IN_FLIGHT)) socket.write(created);
    await Promise.all(first);
  });
});

it('a call whose earlier attempt may have been processed stays unknown when its time ends in the queue', async () => {
  const answers: (() => void)[] = [];
  const server = await startRawServer({
    answer: ({ socket, body }) => {
      if (JSON.parse(body).merchantPaymentReference !== 'first') {
        answers.push(() => void socket.write(created));
        return undefined;
      }
      return 'HTTP/1.1 503 Unavailable\r\nretry-after: 0\r\ncontent-length: 0\r\n\r\n';
    },
  });
  const others: Promise<unknown>[] = [];
  const client = createClient(server.url, {
    idempotency: 'merchantPaymentReference',
    logger: {
      debug() {},
      info() {},
      error() {},
      warn() {
        // Before the first call's second attempt all places are taken.
        if (others.length > 0) return;
        for (let index = 0; index < IN_FLIGHT; index += 1)
          others.push(client.payments.create(order));
      },
    },
  });
  const { timeoutMs, expire } = holdDeadline();
  const expireInQueue = (message: unknown): void => {
    if ((message as { attempt: number }).attempt === 2) setImmediate(expire);
  };
  const channel = 'tracing:merchant-payments:request:start';
  diagnostics.subscribe(channel, expireInQueue);
  onTestFinished(() => void diagnostics.unsubscribe(channel, expireInQueue));
  const error = await failureOf(client.payments.create(named('first'), { timeoutMs }));
  expect(error).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'unknown', safeToRetry: false });
  await server.received(IN_FLIGHT + 1);
  for (const answer of answers) answer();
  await Promise.all(others);
  expect(server.requests).toHaveLength(IN_FLIGHT + 1);
});

it('a request that was cancelled behind a busy connection of a dispatcher leaves it open', async () => {
  const server = await startRawServer({
    answer: (_request, index) => (index === 0 ? undefined : created),
  });
  const dispatcher = new Agent({ connections: 1, pipelining: 1 });
  onTestFinished(() => dispatcher.destroy());
  const client = createClient(server.url, { dispatcher });
  const first = client.payments.create(order);
  await server.received(1);
  const { signal, abort } = (() => {
    const controller = new AbortController();
    return { signal: controller.signal, abort: () => controller.abort() };
  })();
  const lost = Array.from({ length: 50 }, () =>
    failureOf(client.payments.create(order, { signal })),
  );
  await nextTurn();
  abort();
  await Promise.all(lost);
  server.requests[0]?.socket.write(created);
  await first;
  await client.payments.create(order);
  expect(server.requests).toHaveLength(2);
  expect(server.connections).toHaveLength(1);
});
