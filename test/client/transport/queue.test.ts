import { Agent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createClient,
  created,
  failureOf,
  holdClocks,
  holdDeadline,
  order,
  startRawServer,
} from '../raw-server.js';
import { IN_FLIGHT, named, startStalledServer } from './stalled-server.js';

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

  it('are not sent once their time is over, though their timers have not run, and leave their place to the next', async () => {
    const ahead = holdClocks();
    const server = await startStalledServer();
    const client = createClient(server.url);
    const first = Array.from({ length: IN_FLIGHT }, () => client.payments.create(order));
    await server.received(IN_FLIGHT);
    const late = failureOf(client.payments.create(named('late'), { timeoutMs: 2_000 }));
    const next = client.payments.create(named('next'));
    ahead.monotonicMs = 2_500;
    server.requests[0]?.socket.write(created);
    expect(await late).toMatchObject({ code: 'TIMEOUT', requestOutcome: 'not-sent' });
    await next;
    for (const { socket } of server.requests.slice(1, IN_FLIGHT)) socket.write(created);
    await Promise.all(first);
    expect(server.requests).toHaveLength(IN_FLIGHT + 1);
  });
});

/** A client with one connection, whose first call hangs until the test lets it go. */
async function startBusyClient() {
  const server = await startRawServer({
    answer: (_request, index) => (index === 0 ? undefined : created),
  });
  const dispatcher = new Agent({ connections: 1, pipelining: 1 });
  onTestFinished(() => dispatcher.destroy());
  const client = createClient(server.url, { dispatcher });
  const first = client.payments.create(named('first'));
  await server.received(1);
  const letGo = () => void server.requests[0]?.socket.write(created);
  return { server, client, first, letGo };
}

describe('a call that waits behind a busy connection', () => {
  it.each([
    ['its signal is aborted', 'ABORTED'],
    ['its deadline passes', 'TIMEOUT'],
  ])('is not sent when %s, and never goes out afterwards', async (_what, code) => {
    const { server, client, first, letGo } = await startBusyClient();
    const { timeoutMs, expire } = holdDeadline();
    const controller = new AbortController();
    const options = { timeoutMs, signal: controller.signal };
    const second = failureOf(client.payments.create(named('second'), options));
    const third = client.payments.create(named('third'));
    // The calls reach the dispatcher in a microtask.
    await new Promise(setImmediate);
    if (code === 'TIMEOUT') expire();
    else controller.abort();
    expect(await second).toMatchObject({ code, requestOutcome: 'not-sent' });
    letGo();
    await Promise.all([first, third]);
    expect(server.requests.map(({ body }) => JSON.parse(body).merchantPaymentReference)).toEqual([
      'first',
      'third',
    ]);
  });

  it('is sent once when the connection in front of it breaks', async () => {
    const { server, client, first } = await startBusyClient();
    const broken = failureOf(first);
    const second = client.payments.create(named('second'));
    await new Promise(setImmediate);
    server.requests[0]?.socket.resetAndDestroy();
    expect(await broken).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'unknown' });
    expect((await second).response).toMatchObject({ status: 201, attempts: 1 });
    expect(server.requests).toHaveLength(2);
  });
});

it('a request that was cancelled behind a busy connection of a dispatcher leaves it open', async () => {
  const { server, client, first, letGo } = await startBusyClient();
  const outage = new AbortController();
  const { signal } = outage;
  const lost = Array.from({ length: 50 }, () =>
    failureOf(client.payments.create(order, { signal })),
  );
  await new Promise(setImmediate);
  outage.abort();
  await Promise.all(lost);
  letGo();
  await first;
  await client.payments.create(order);
  expect(server.requests).toHaveLength(2);
  expect(server.connections).toHaveLength(1);
});
