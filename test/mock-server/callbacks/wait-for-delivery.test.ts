import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { createManualClock, startMockServer } from '../../../src/mock-server/index.js';
import { createPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';

describe('waitForDelivery', () => {
  test('hands out an attempt that has ended already', async () => {
    await using endpoint = await startEndpoint();
    await using server = await startMockServer({ callbackUrl: endpoint.url });
    const referenceNumber = await createPayment(server);
    await server.setStatus(referenceNumber, 'paid');
    expect(await server.waitForDelivery({ referenceNumber })).toBe(server.deliveries[0]);
  });

  test('waits for one that is yet to come, and for the right one', async () => {
    await using endpoint = await startEndpoint();
    await using server = await startMockServer({ callbackUrl: endpoint.url });
    const first = await createPayment(server);
    const second = await createPayment(server);
    const waiting = server.waitForDelivery({ referenceNumber: second, status: 'paid' });
    await server.setStatus(first, 'paid');
    await server.setStatus(second, 'processing');
    await server.setStatus(second, 'paid');
    expect(await waiting).toBe(server.deliveries[2]);
  });

  test('tells attempts apart by number and by whether they were acknowledged', async () => {
    await using endpoint = await startEndpoint((count) => (count < 3 ? 500 : 200));
    const clock = createManualClock();
    await using server = await startMockServer({ clock, callbackUrl: endpoint.url });
    const third = server.waitForDelivery({ acknowledged: true });
    const second = server.waitForDelivery({ attempt: 2 });
    await server.setStatus(await createPayment(server), 'paid');
    await clock.advance(86_400_000);
    expect((await second).attempt).toBe(2);
    expect((await third).attempt).toBe(3);
    expect((await server.waitForDelivery({ acknowledged: false })).attempt).toBe(1);
    expect((await server.waitForDelivery({})).attempt).toBe(1);
  });

  test('ends in time with the fake timers of a test, and so does a callback', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    await using endpoint = await startEndpoint(() => undefined);
    await using server = await startMockServer({
      callbackUrl: endpoint.url,
      callbackTimeoutMs: 30,
    });
    const referenceNumber = await createPayment(server);
    const { attempts } = await server.pay(referenceNumber);
    expect(attempts).toMatchObject([{ outcome: 'timed-out' }]);
    const waiting = server.waitForDelivery({ attempt: 7 }, { timeoutMs: 30 });
    await expect(waiting).rejects.toThrow('within 30 ms');
  });

  test.each([-1, 0.5, Number.NaN, 2_147_483_648])('refuses timeoutMs %s', async (timeoutMs) => {
    await using server = await startMockServer();
    await expect(server.waitForDelivery({}, { timeoutMs })).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'timeoutMs',
    });
  });
});

describe('the message when there was none in time', () => {
  const wait = { timeoutMs: 0 };

  test('says that callbackUrl is not set', async () => {
    await using server = await startMockServer();
    await server.setStatus(await createPayment(server), 'paid');
    await expect(server.waitForDelivery({ status: 'paid' }, wait)).rejects.toThrow(
      'No delivery with status paid within 0 ms (docs/errors.md#the-mock)\nThere are no delivery attempts\n' +
        'callbackUrl is not set, so no callback is sent: set it, or give it as an option',
    );
  });

  test('lists every attempt with its result, and what is still to come', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : undefined));
    const clock = createManualClock({ now: 0 });
    await using server = await startMockServer({ clock, callbackUrl: endpoint.url });
    const [a, b, c] = [
      await createPayment(server),
      await createPayment(server),
      await createPayment(server),
    ];
    server.faults.add({ on: 'callback', type: 'reorder', match: { referenceNumber: c } });
    await server.setStatus(a, 'failed');
    server.faults.add({ on: 'callback', type: 'drop' });
    await server.setStatus(b, 'paid');
    await server.setStatus(c, 'held back');
    void server.setStatus(b, 'refunded');
    await endpoint.waitFor(2);
    await expect(server.waitForDelivery({ attempt: 9 }, wait)).rejects.toThrow(
      [
        'No delivery with attempt 9 within 0 ms (docs/errors.md#the-mock)',
        'The delivery attempts:',
        `  attempt 1, ${a}, status failed, refused, HTTP 500, next attempt at 1970-01-01T00:00:01.000Z of the service's clock`,
        `  attempt 1, ${b}, status paid, dropped, fault drop, next attempt at 1970-01-01T00:00:01.000Z of the service's clock`,
        'Also 1 under way',
        "Also 1 held by a reorder fault until the payment's next change",
        "Also 2 waiting for a retry on the service's clock",
      ].join('\n'),
    );
  });
});
