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

const named = (merchantPaymentReference: string) => ({ ...order, merchantPaymentReference });

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
