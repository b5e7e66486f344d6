import { describe, expect, test } from 'vitest';
import { createManualClock, type MockEvent } from '../../src/mock-server/index.js';
import { type MockServiceOptions, resolveServiceOptions } from '../../src/mock-server/options.js';
import { InProcessService } from '../../src/mock-server/service.js';
import { control } from './control/control-client.js';
import { createPayment, creation, order, startWithPayment } from './merchant-client.js';
import { parseBody, startEndpoint } from './merchant-endpoint.js';

function createService(limit: number, options: MockServiceOptions = {}) {
  return new InProcessService(resolveServiceOptions(options), limit);
}

async function create(service: InProcessService, merchantPaymentReference: string) {
  const answer = await service.fetch(creation({ ...order, merchantPaymentReference }));
  const { referenceNumber } = (await answer.json()) as { referenceNumber: string };
  return referenceNumber;
}

describe('payments', () => {
  test('are the newest; an error says that older ones were dropped', async () => {
    const service = createService(2);
    const numbers = [await create(service, 'a'), await create(service, 'b')];
    await service.setStatus(numbers[0] ?? '', 'paid');
    numbers.push(await create(service, 'c'));
    expect(service.payments.list().map((one) => one.referenceNumber)).toEqual(numbers.slice(1));
    expect(service.payments.get(numbers[0] ?? '')).toBeUndefined();
    await expect(service.setStatus(numbers[0] ?? '', 'refunded')).rejects.toThrow(
      "one of this mock's 2 payments (1 older ones were dropped at the limit)",
    );
  });

  test('that are dropped still get their automatic status and its callback, if it has not changed', async () => {
    await using endpoint = await startEndpoint();
    const clock = createManualClock();
    const options = { clock, callbackUrl: endpoint.url, autoStatus: 'paid' };
    await using service = createService(1, options);
    const changed = await create(service, 'changed');
    await service.setStatus(changed, 'failed');
    for (const reference of ['dropped', 'kept']) await create(service, reference);
    await clock.advance(1_000);
    const sent = endpoint.received.map((callback) => {
      const { merchantPaymentReference, status } = parseBody(callback);
      return `${merchantPaymentReference} ${status}`;
    });
    expect(sent).toEqual(['changed failed', 'dropped paid', 'kept paid']);
    expect(service.payments.list()).toMatchObject([
      { merchantPaymentReference: 'kept', status: 'paid' },
    ]);
  });

  test('keep their last 100 statuses', async () => {
    const { server, referenceNumber } = await startWithPayment({});
    await using _ = server;
    for (let count = 1; count <= 150; count += 1) {
      await server.setStatus(referenceNumber, `status-${count}`);
    }
    const history = server.payments.get(referenceNumber)?.history ?? [];
    expect(history).toHaveLength(100);
    expect([history[0]?.status, history.at(-1)?.status]).toEqual(['status-51', 'status-150']);
  });
});

describe('deliveries', () => {
  test('are the newest; an older one can not be sent again', async () => {
    await using endpoint = await startEndpoint();
    const options = { callbackUrl: endpoint.url };
    const { server, referenceNumber } = await startWithPayment(options, 5);
    await using _server = server;
    const first = await server.setStatus(referenceNumber, 'first');
    server.callbackUrl = undefined;
    const second = await server.setStatus(referenceNumber, 'second');
    for (let count = 0; count < 3; count += 1) await server.setStatus(referenceNumber, 'next');
    expect((await server.resend(first.id)).status).toBe('first');
    // That one was the sixth.
    await expect(server.resend(first.id)).rejects.toMatchObject({ option: 'referenceNumber' });
    expect((await server.resend(second.id)).status).toBe('second');
    const { body } = await control(server, 'GET', `/payments/${referenceNumber}`);
    expect(body['deliveries']).toHaveLength(5);
  });

  test('that are older are still retried, in the same object and with the same signature', async () => {
    const clock = createManualClock();
    await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
    const { server, referenceNumber } = await startWithPayment(
      { callbackUrl: endpoint.url, clock, retryScheduleMs: [1_000], retrySigning: 'original' },
      2,
    );
    await using _server = server;
    const states: string[] = [];
    const delivery = await server.setStatus(referenceNumber, 'first');
    server.callbackUrl = undefined;
    server.subscribe((event) => {
      if (event.type === 'delivery' && event.delivery.id === delivery.id) {
        states.push(event.delivery.state);
      }
    });
    for (let count = 0; count < 3; count += 1) await server.setStatus(referenceNumber, 'next');
    await clock.advance(1_000);
    const [sent, sentAgain] = endpoint.received;
    expect(sentAgain && parseBody(sentAgain)).toEqual(sent && parseBody(sent));
    expect(sentAgain?.headers['x-signature']).toBe(sent?.headers['x-signature']);
    expect(states).toEqual(['sending', 'acknowledged']);
    expect(delivery.state).toBe('acknowledged');
  });
});

describe('logs', () => {
  test('have the newest requests; a wait in vain says how many were dropped', async () => {
    const service = createService(101);
    for (let count = 0; count < 103; count += 1) {
      await service.fetch(new Request(`http://mock.test/${count}`));
    }
    expect(service.requests).toHaveLength(101);
    expect(service.requests[0]?.path).toBe('/2');
    const wait = service.waitForRequest({ path: '/1' }, { timeoutMs: 0 });
    await expect(wait).rejects.toThrow('The last 100 of 101 requests');
    await expect(wait).rejects.toThrow("2 older requests were dropped at the service's limit");
  });

  test('have the newest attempts; older ones make room, in their delivery too', async () => {
    const { server, referenceNumber } = await startWithPayment(
      { callbackUrl: 'http://127.0.0.1:9/', retryScheduleMs: [] },
      4,
    );
    await using _ = server;
    const fault = { on: 'callback', type: 'duplicate' } as const;
    const sent = [];
    for (let count = 0; count < 3; count += 1) {
      sent.push(await server.resend(referenceNumber, { fault }));
    }
    expect(server.deliveries).toHaveLength(4);
    expect(sent.map(({ attempts }) => attempts.length)).toEqual([0, 2, 2]);
    const wait = server.waitForDelivery({ acknowledged: true }, { timeoutMs: 0 });
    await expect(wait).rejects.toThrow(
      "2 older delivery attempts were dropped at the service's limit",
    );
  });
});

describe('a limit that is reached', () => {
  test('is one event for each kind, and one more after a reset', async () => {
    const { server, referenceNumber } = await startWithPayment(
      { callbackUrl: 'http://127.0.0.1:9/', retryScheduleMs: [] },
      2,
    );
    await using _ = server;
    const reached: MockEvent[] = [];
    server.subscribe((event) => {
      if (event.type === 'limit') reached.push(event);
    });
    for (let count = 0; count < 4; count += 1) await server.setStatus(referenceNumber, 'next');
    for (let count = 0; count < 4; count += 1) await createPayment(server);
    const kinds = () => reached.map((event) => event.type === 'limit' && event.kind);
    expect(kinds()).toEqual(['callbacks', 'deliveries', 'requests', 'payments']);
    expect(reached[2]).toEqual({
      type: 'limit',
      kind: 'requests',
      message:
        'The mock keeps 2 requests, and drops the oldest; retries and automatic statuses still happen. Call reset() between tests, or start a mock for each.',
    });
    server.reset();
    for (let count = 0; count < 3; count += 1) await createPayment(server);
    expect(kinds().slice(4)).toEqual(['requests', 'payments']);
  });
});
