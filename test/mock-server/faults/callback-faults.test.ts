import { describe, expect, test } from 'vitest';
import {
  type CallbackFault,
  createManualClock,
  type MockClock,
  type MockServer,
  startMockServer,
} from '../../../src/mock-server/index.js';
import { createPayment } from '../merchant-client.js';
import {
  isSigned,
  type MerchantEndpoint,
  parseBody,
  type ReceivedCallback,
  startEndpoint,
} from '../merchant-endpoint.js';

const NOW_SECONDS = 1_769_860_800;

interface Scene extends AsyncDisposable {
  readonly clock: MockClock;
  readonly endpoint: MerchantEndpoint;
  readonly server: MockServer;
  readonly referenceNumber: string;
}

/** An endpoint, a server on a manual clock that calls it, and one payment. */
async function setUp(reply?: Parameters<typeof startEndpoint>[0]): Promise<Scene> {
  const endpoint = await startEndpoint(reply);
  const clock = createManualClock({ now: NOW_SECONDS * 1000 });
  const server = await startMockServer({
    clock,
    callbackUrl: endpoint.url,
    retryScheduleMs: [1_000],
  });
  return {
    clock,
    endpoint,
    server,
    referenceNumber: await createPayment(server),
    async [Symbol.asyncDispose]() {
      await server.close();
      await endpoint[Symbol.asyncDispose]();
    },
  };
}

/** The one callback that the endpoint receives with this fault, and its log entry. */
async function sendWith(fault: CallbackFault) {
  await using scene = await setUp();
  const { server, endpoint, referenceNumber } = scene;
  server.faults.add(fault);
  const delivery = await server.setStatus(referenceNumber, 'paid');
  expect(server.faults.pending()).toEqual([]);
  expect(delivery.attempts.map((attempt) => attempt.fault)).toEqual([fault.type]);
  return {
    callback: endpoint.received[0] as ReceivedCallback,
    attempt: delivery.attempts[0],
    secret: server.signingSecret,
    payment: server.payments.get(referenceNumber),
  };
}

const statusesOf = ({ received }: MerchantEndpoint) =>
  received.map((callback) => parseBody(callback)['status']);

describe('the signature is wrong', () => {
  test('with tampered-body: the body names another order than the signed one', async () => {
    const { callback, secret, attempt } = await sendWith({ on: 'callback', type: 'tampered-body' });
    expect(isSigned(callback, secret)).toBe(false);
    expect(parseBody(callback)['merchantPaymentReference']).toBe('order-1-tampered');
    expect(attempt?.signedString).toContain('"merchantPaymentReference":"order-1"');
    const untouched = { ...callback, rawBody: Buffer.from(attempt?.signedString.slice(11) ?? '') };
    expect(isSigned(untouched, secret)).toBe(true);
  });
});

test('drop loses the attempt, and the retry arrives', async () => {
  await using scene = await setUp();
  const { server, clock, endpoint, referenceNumber } = scene;
  server.faults.add({ on: 'callback', type: 'drop' });
  const delivery = await server.setStatus(referenceNumber, 'paid');
  expect(endpoint.received).toEqual([]);
  expect(delivery.state).toBe('retrying');
  await clock.advance(1_000);
  expect(endpoint.received).toHaveLength(1);
  expect(delivery.attempts.map(({ outcome }) => outcome)).toEqual(['dropped', 'acknowledged']);
  expect(delivery.state).toBe('acknowledged');
});

describe('duplicate', () => {
  test('sends copies with the same bytes and headers', async () => {
    await using scene = await setUp();
    const { server, endpoint, referenceNumber } = scene;
    server.faults.add({ on: 'callback', type: 'duplicate', copies: 2 });
    const delivery = await server.setStatus(referenceNumber, 'paid');
    expect(endpoint.received).toHaveLength(3);
    for (const { rawBody, headers } of endpoint.received) {
      expect(rawBody).toEqual(endpoint.received[0]?.rawBody);
      expect(headers).toEqual(endpoint.received[0]?.headers);
    }
    expect(delivery.attempts.map(({ attempt, copy }) => [attempt, copy])).toEqual([
      [1, 0],
      [1, 1],
      [1, 2],
    ]);
    expect(new Set(delivery.attempts.map(({ id }) => id)).size).toBe(3);
  });

  test('in-turn sends the copy after the answer', async () => {
    let open = 0;
    let mostOpen = 0;
    await using scene = await setUp(() => (response) => {
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      setImmediate(() => {
        open -= 1;
        response.writeHead(200).end();
      });
    });
    scene.server.faults.add({ on: 'callback', type: 'duplicate' });
    await scene.server.setStatus(scene.referenceNumber, 'paid');
    expect(scene.endpoint.received).toHaveLength(2);
    expect(mostOpen).toBe(1);
  });

  test('at-once sends the copies before the first is answered', async () => {
    const waiting: (() => void)[] = [];
    // Answers only when it has all three.
    await using scene = await setUp((count) => (response) => {
      waiting.push(() => response.writeHead(200).end());
      if (count === 3) for (const answer of waiting) answer();
    });
    scene.server.faults.add({ on: 'callback', type: 'duplicate', mode: 'at-once', copies: 2 });
    const delivery = await scene.server.setStatus(scene.referenceNumber, 'paid');
    expect(delivery).toMatchObject({ state: 'acknowledged', attempts: [{}, {}, {}] });
  });

  test.each(['in-turn', 'at-once'] as const)(
    '%s is acknowledged by any 2xx, and retried once when there is none',
    async (mode) => {
      await using scene = await setUp((count) => (count === 2 || count > 4 ? 200 : 503));
      const { server, clock, endpoint, referenceNumber } = scene;
      server.faults.add({ on: 'callback', type: 'duplicate', mode, times: 2 });
      expect((await server.setStatus(referenceNumber, 'processing')).state).toBe('acknowledged');
      const refused = await server.setStatus(referenceNumber, 'paid');
      expect(refused.state).toBe('retrying');
      expect(refused.attempts.map(({ nextRetryAt }) => nextRetryAt !== undefined)).toEqual([
        false,
        true,
      ]);
      await clock.advance(1_000);
      expect(refused.state).toBe('acknowledged');
      expect(endpoint.received).toHaveLength(5);
    },
  );
});

test('an acknowledged attempt stays acknowledged when its duplicate is refused', async () => {
  await using scene = await setUp((count) => (count === 1 ? 200 : 503));
  scene.server.faults.add({ on: 'callback', type: 'duplicate' });
  const delivery = await scene.server.setStatus(scene.referenceNumber, 'paid');
  expect(delivery.attempts.map(({ outcome }) => outcome)).toEqual(['acknowledged', 'refused']);
  expect(delivery.state).toBe('acknowledged');
});

describe('reorder', () => {
  test('delivers a change after the next one', async () => {
    await using scene = await setUp();
    const { server, endpoint, referenceNumber } = scene;
    server.faults.add({ on: 'callback', type: 'reorder' });
    const older = await server.setStatus(referenceNumber, 'processing');
    expect(older).toMatchObject({ state: 'held', attempts: [] });
    expect(endpoint.received).toEqual([]);
    await server.setStatus(referenceNumber, 'paid');
    expect(statusesOf(endpoint)).toEqual(['paid', 'processing']);
    expect(older.state).toBe('acknowledged');
  });

  test('reverses the order of several', async () => {
    await using scene = await setUp();
    const { server, endpoint, referenceNumber } = scene;
    server.faults.add({ on: 'callback', type: 'reorder', times: 2 });
    for (const status of ['first', 'second', 'third'])
      await server.setStatus(referenceNumber, status);
    expect(statusesOf(endpoint)).toEqual(['third', 'second', 'first']);
  });

  test('is cancelled by a reset', async () => {
    await using scene = await setUp();
    scene.server.faults.add({ on: 'callback', type: 'reorder' });
    const held = await scene.server.setStatus(scene.referenceNumber, 'processing');
    scene.server.reset();
    expect(held.state).toBe('cancelled');
  });

  test('waits for the same payment, not for another', async () => {
    await using scene = await setUp();
    const { server, endpoint, referenceNumber } = scene;
    const other = await createPayment(server);
    server.faults.add({ on: 'callback', type: 'reorder' });
    await server.setStatus(referenceNumber, 'processing');
    await server.setStatus(other, 'paid');
    expect(statusesOf(endpoint)).toEqual(['paid']);
  });

  test('holds neither a retry nor a delivery that it has released', async () => {
    await using scene = await setUp((count) => (count === 1 ? 500 : 200));
    const { server, clock, endpoint, referenceNumber } = scene;
    const paid = await server.setStatus(referenceNumber, 'paid');
    server.faults.add({ on: 'callback', type: 'reorder', times: 3 });
    await clock.advance(1_000);
    expect(server.faults.pending()).toEqual([expect.objectContaining({ times: 3 })]);
    expect(paid.state).toBe('acknowledged');
    const reorderA = { on: 'callback', type: 'reorder', match: { status: 'a' } } as const;
    server.faults.clear();
    server.faults.add({ ...reorderA, times: 2 });
    await server.setStatus(referenceNumber, 'a');
    await server.setStatus(referenceNumber, 'b');
    expect(statusesOf(endpoint)).toEqual(['paid', 'paid', 'b', 'a']);
    expect(server.faults.pending()).toEqual([reorderA].map((fault) => ({ ...fault, times: 1 })));
  });
});

describe('a fault applies to an attempt', () => {
  test('selected by payment, reference, status and number', async () => {
    await using scene = await setUp(() => 500);
    const { server, clock, referenceNumber } = scene;
    const match = {
      referenceNumber,
      merchantPaymentReference: 'order-1',
      status: 'paid',
      attempt: 2,
    };
    for (const [field, other] of [
      ['referenceNumber', 'another'],
      ['merchantPaymentReference', 'another'],
      ['status', 'failed'],
      ['attempt', 3],
    ] as const) {
      server.faults.add({ on: 'callback', type: 'drop', match: { ...match, [field]: other } });
    }
    server.faults.add({ on: 'callback', type: 'wrong-secret', match });
    const delivery = await server.setStatus(referenceNumber, 'paid');
    await clock.advance(1_000);
    expect(delivery.attempts.map(({ fault }) => fault)).toEqual([undefined, 'wrong-secret']);
    expect(server.faults.pending()).toHaveLength(4);
  });
});
