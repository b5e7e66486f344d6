import { describe, expect, test } from 'vitest';
import { createManualClock } from '../../../src/mock-server/index.js';
import { startWithPayment } from '../merchant-client.js';
import { isSigned, parseBody, startEndpoint } from '../merchant-endpoint.js';

describe('a status change', () => {
  test('sends a signed callback with the status record', async () => {
    await using endpoint = await startEndpoint();
    const clock = createManualClock({ now: Date.UTC(2026, 0, 31, 12, 0, 0, 900) });
    const { server, referenceNumber } = await startWithPayment({
      clock,
      callbackUrl: endpoint.url,
    });
    await using _ = server;
    await clock.advance(5_000);
    const delivery = await server.setStatus(referenceNumber, 'paid');

    const [callback] = endpoint.received;
    expect(callback).toMatchObject({
      url: '/callbacks/payments',
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-timestamp': '1769860805' },
    });
    expect(callback?.headers['content-length']).toBe(String(callback?.rawBody.length));
    expect(callback && isSigned(callback, server.signingSecret)).toBe(true);
    expect(callback && parseBody(callback)).toEqual({
      referenceNumber,
      merchantPaymentReference: 'order-1',
      providerReference: server.payments.get(referenceNumber)?.providerReference,
      status: 'paid',
      createdAt: '2026-01-31T12:00:00.900+00:00',
      updatedAt: '2026-01-31T12:00:05.900+00:00',
    });
    expect(delivery).toMatchObject({ referenceNumber, status: 'paid', state: 'acknowledged' });
    expect(delivery.payment).toBe(server.payments.get(referenceNumber));
  });

  test('is recorded with what was sent, what was signed and what was answered', async () => {
    await using endpoint = await startEndpoint(() => (response) => {
      response.writeHead(202).end('thanks');
    });
    const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'paid');
    const [attempt] = server.deliveries;
    const [callback] = endpoint.received;
    expect(delivery.attempts).toEqual([attempt]);
    expect(attempt).toMatchObject({
      deliveryId: delivery.id,
      referenceNumber,
      merchantPaymentReference: 'order-1',
      status: 'paid',
      attempt: 1,
      copy: 0,
      url: endpoint.url,
      timestamp: callback?.headers['x-timestamp'],
      headers: { 'x-signature': callback?.headers['x-signature'] },
      signedString: `${callback?.headers['x-timestamp']}.${callback?.rawBody}`,
      outcome: 'acknowledged',
      response: { status: 202, body: 'thanks' },
    });
    expect(Buffer.from(attempt?.rawBody ?? []).equals(callback?.rawBody ?? Buffer.alloc(1))).toBe(
      true,
    );
    expect(attempt?.latencyMs).toBeGreaterThan(0);
    expect(attempt).not.toHaveProperty('nextRetryAt');
  });

  test.each(['base64', 'base64url'] as const)(
    'is signed in %s when asked',
    async (signatureEncoding) => {
      await using endpoint = await startEndpoint();
      const options = { callbackUrl: endpoint.url, signatureEncoding };
      const { server, referenceNumber } = await startWithPayment(options);
      await using _ = server;
      await server.setStatus(referenceNumber, 'paid');
      const signature = String(endpoint.received[0]?.headers['x-signature']);
      expect(signature).toMatch(signatureEncoding === 'base64' ? /^.{43}=$/ : /^[\w-]{43}$/);
    },
  );

  test('raises updatedAt, also when the clock stands still', async () => {
    const clock = createManualClock({ now: 1_000_000 });
    const { server, referenceNumber } = await startWithPayment({ clock });
    await using _ = server;
    const times: number[] = [];
    for (const status of ['a', 'b', 'b']) {
      const { payment } = await server.setStatus(referenceNumber, status);
      times.push(Date.parse(payment.updatedAt));
    }
    expect(times).toEqual([1_000_001, 1_000_002, 1_000_003]);
    expect(Date.parse(server.payments.list()[0]?.createdAt ?? '')).toBe(1_000_000);
  });

  test('without a callbackUrl sends nothing and says so', async () => {
    const { server, referenceNumber } = await startWithPayment({});
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'paid');
    expect(delivery).toMatchObject({ state: 'not-configured', attempts: [] });
    expect(server.deliveries).toEqual([]);
  });

  test.each(['', ' ', undefined, 5])('to %j is refused and changes nothing', async (status) => {
    const { server, referenceNumber } = await startWithPayment({});
    await using _ = server;
    await expect(server.setStatus(referenceNumber, status as string)).rejects.toMatchObject({
      code: 'INVALID_OPTION',
      option: 'status',
    });
    expect(server.payments.get(referenceNumber)?.status).toBe('pending');
  });
});

describe('the connection to the endpoint', () => {
  test('is kept for the next callback, and closed with the mock', async () => {
    const sockets = new Set<unknown>();
    let open = 0;
    await using endpoint = await startEndpoint(() => (response) => {
      const { socket } = response;
      if (socket && !sockets.has(socket)) {
        sockets.add(socket);
        open += 1;
        socket.once('close', () => {
          open -= 1;
        });
      }
      response.end();
    });
    const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
    for (let count = 0; count < 5; count += 1) await server.pay(referenceNumber);
    expect([sockets.size, open]).toEqual([1, 1]);
    await server.close();
    await expect.poll(() => open).toBe(0);
  });

  test('is opened again when the endpoint closed it meanwhile', async () => {
    const closed: unknown[] = [];
    await using endpoint = await startEndpoint(() => (response) => {
      // Once it has ended, the answer has no socket.
      const { socket } = response;
      socket?.once('close', () => closed.push(1));
      response.end(() => socket?.end());
    });
    const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
    await using _ = server;
    for (let count = 1; count <= 5; count += 1) {
      expect((await server.pay(referenceNumber)).state).toBe('acknowledged');
      await expect.poll(() => closed.length).toBe(count);
    }
  });
});
