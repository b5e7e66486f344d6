import { describe, expect, test } from 'vitest';
import { createManualClock, startMockServer } from '../../../src/mock-server/index.js';
import { createPayment, startWithPayment } from '../merchant-client.js';
import { isSigned, reserveClosedPort, startEndpoint } from '../merchant-endpoint.js';

const DAY_MS = 86_400_000;

describe('retries', () => {
  test('follow the schedule until 2xx, a day of them in a moment', async () => {
    await using endpoint = await startEndpoint((count) => (count < 5 ? 500 : 204));
    const clock = createManualClock({ now: 1_000_000_000 });
    const retryScheduleMs = [1_000, 60_000, 3_600_000, DAY_MS / 2, DAY_MS];
    const options = { clock, callbackUrl: endpoint.url, retryScheduleMs };
    const { server, referenceNumber } = await startWithPayment(options);
    await using _ = server;

    const delivery = await server.setStatus(referenceNumber, 'paid');
    expect(delivery.state).toBe('retrying');
    expect(delivery.attempts[0]?.nextRetryAt).toEqual(new Date(1_000_001_000));
    await clock.advance(DAY_MS);

    const offsets = [0, 1_000, 61_000, 3_661_000, 3_661_000 + DAY_MS / 2];
    expect(delivery.state).toBe('acknowledged');
    expect(delivery.attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual([
      [1, 'refused'],
      [2, 'refused'],
      [3, 'refused'],
      [4, 'refused'],
      [5, 'acknowledged'],
    ]);
    expect(delivery.attempts.map(({ sentAt }) => sentAt.getTime() - 1_000_000_000)).toEqual(
      offsets,
    );
    expect(endpoint.received.map(({ headers }) => Number(headers['x-timestamp']))).toEqual(
      offsets.map((offset) => 1_000_000 + offset / 1000),
    );
    await clock.advance(10 * DAY_MS);
    expect(endpoint.received).toHaveLength(5);
  });

  test('go to the address that is set by then', async () => {
    await using wrong = await startEndpoint(() => 500);
    await using right = await startEndpoint();
    const clock = createManualClock();
    const options = { clock, callbackUrl: wrong.url, retryScheduleMs: [1_000] };
    const { server, referenceNumber } = await startWithPayment(options);
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'paid');
    server.callbackUrl = right.url;
    await clock.advance(1_000);
    expect(delivery.attempts.map(({ url }) => url)).toEqual([wrong.url, right.url]);
    expect(delivery.state).toBe('acknowledged');
  });

  test('wait for their turn when many callbacks are sent at once, and none is lost or late', async () => {
    let [open, most] = [0, 0];
    await using endpoint = await startEndpoint(() => (response) => {
      open += 1;
      most = Math.max(most, open);
      setImmediate(() => {
        open -= 1;
        response.end();
      });
    });
    await using server = await startMockServer({ callbackUrl: endpoint.url });
    const payments = await Promise.all(Array.from({ length: 250 }, () => createPayment(server)));
    const deliveries = await Promise.all(payments.map((one) => server.pay(one)));
    expect(deliveries.every(({ state }) => state === 'acknowledged')).toBe(true);
    expect(endpoint.received).toHaveLength(250);
    expect(most).toBeLessThanOrEqual(200);
  });

  test('that wait for their turn end when the service is closed', async () => {
    await using endpoint = await startEndpoint(() => undefined);
    const server = await startMockServer({ callbackUrl: endpoint.url });
    const payments = await Promise.all(Array.from({ length: 210 }, () => createPayment(server)));
    const running = payments.map((one) => server.pay(one));
    await endpoint.waitFor(200);
    await server.close();
    await Promise.all(running);
    expect(endpoint.received).toHaveLength(200);
  });

  test('end when the schedule is used up', async () => {
    await using endpoint = await startEndpoint(() => 500);
    const clock = createManualClock();
    const options = { clock, callbackUrl: endpoint.url, retryScheduleMs: [10, 20] };
    const { server, referenceNumber } = await startWithPayment(options);
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'paid');
    await clock.advance(DAY_MS);
    expect(delivery.state).toBe('given-up');
    expect(delivery.attempts.map(({ nextRetryAt }) => nextRetryAt !== undefined)).toEqual([
      true,
      true,
      false,
    ]);
    expect(endpoint.received).toHaveLength(3);
  });

  test('are signed anew by default', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
    const clock = createManualClock();
    const { server, referenceNumber } = await startWithPayment({
      clock,
      callbackUrl: endpoint.url,
    });
    await using _ = server;
    await server.setStatus(referenceNumber, 'paid');
    await clock.advance(DAY_MS);
    const [first, second] = endpoint.received;
    expect(second?.rawBody).toEqual(first?.rawBody);
    expect(second?.headers['x-signature']).not.toBe(first?.headers['x-signature']);
    expect(endpoint.received.every((callback) => isSigned(callback, server.signingSecret))).toBe(
      true,
    );
  });

  test('repeat timestamp and signature with retrySigning original', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
    const clock = createManualClock();
    const options = { clock, callbackUrl: endpoint.url, retrySigning: 'original' as const };
    const { server, referenceNumber } = await startWithPayment(options);
    await using _ = server;
    await server.setStatus(referenceNumber, 'paid');
    await clock.advance(DAY_MS);
    const [first, second] = endpoint.received;
    expect(second?.headers['x-timestamp']).toBe(first?.headers['x-timestamp']);
    expect(second?.headers['x-signature']).toBe(first?.headers['x-signature']);
  });
});

describe('an attempt is retried', () => {
  test.each([307, 401, 500])('after HTTP %i', async (status) => {
    await using endpoint = await startEndpoint(() => (response) => {
      response.writeHead(status, { location: '/elsewhere' }).end();
    });
    const { server, referenceNumber } = await startWithPayment({
      clock: createManualClock(),
      callbackUrl: endpoint.url,
    });
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'paid');
    expect(delivery.attempts[0]).toMatchObject({ outcome: 'refused', response: { status } });
    expect(delivery.state).toBe('retrying');
    expect(endpoint.received.map(({ url }) => url)).toEqual(['/callbacks/payments']);
  });

  test('when no server listens', async () => {
    const callbackUrl = `http://127.0.0.1:${await reserveClosedPort()}/callbacks`;
    const { server, referenceNumber } = await startWithPayment({ callbackUrl });
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'paid');
    expect(delivery.attempts[0]).toMatchObject({ outcome: 'failed', errorCode: 'ECONNREFUSED' });
    expect(delivery.attempts[0]).not.toHaveProperty('response');
    expect(delivery.state).toBe('retrying');
  });

  test('when the connection breaks before the answer or within it', async () => {
    await using endpoint = await startEndpoint((count) => (response) => {
      if (count === 1) response.socket?.resetAndDestroy();
      else {
        response.writeHead(200, { 'content-length': '100' });
        response.write('only this', () => response.socket?.destroy());
      }
    });
    const clock = createManualClock();
    const { server, referenceNumber } = await startWithPayment({
      clock,
      callbackUrl: endpoint.url,
    });
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'paid');
    await clock.advance(1_000);
    expect(delivery.attempts.map(({ outcome, errorCode }) => [outcome, errorCode])).toEqual([
      ['failed', 'ECONNRESET'],
      ['failed', 'ECONNRESET'],
    ]);
  });

  test('when the answer takes longer than callbackTimeoutMs, before its head or within its body', async () => {
    // On a busy machine the time may be over before the endpoint has the request.
    let open = 0;
    await using endpoint = await startEndpoint((count) => (response) => {
      open += 1;
      response.on('close', () => {
        open -= 1;
      });
      if (count === 2)
        response.writeHead(200, { 'content-length': '100' }).write('and then nothing');
    });
    const clock = createManualClock();
    const { server, referenceNumber } = await startWithPayment({
      clock,
      callbackUrl: endpoint.url,
      callbackTimeoutMs: 50,
    });
    await using _ = server;
    const delivery = await server.setStatus(referenceNumber, 'paid');
    await clock.advance(1_000);
    expect(delivery.attempts.map(({ outcome }) => outcome)).toEqual(['timed-out', 'timed-out']);
    expect(delivery.attempts[0]?.latencyMs).toBeGreaterThanOrEqual(49);
    while (open > 0) await new Promise(setImmediate);
    expect(delivery.state).toBe('retrying');
  });
});

test('no more than 4 KiB of an answer is read, however long it goes on', async () => {
  await using endpoint = await startEndpoint(() => (response) => {
    const more = () => {
      while (!response.destroyed && response.write('x'.repeat(1_000)));
    };
    response.on('drain', more);
    more();
  });
  const { server, referenceNumber } = await startWithPayment({ callbackUrl: endpoint.url });
  await using _ = server;
  const { attempts } = await server.setStatus(referenceNumber, 'paid');
  expect(attempts[0]).toMatchObject({
    outcome: 'acknowledged',
    response: { status: 200, body: 'x'.repeat(4_096) },
  });
});
