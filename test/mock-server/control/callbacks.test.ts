import { describe, expect, test } from 'vitest';
import {
  createManualClock,
  type MockServer,
  type MockServerOptions,
  startMockServer,
} from '../../../src/mock-server/index.js';
import { createPayment } from '../merchant-client.js';
import {
  isSigned,
  type MerchantEndpoint,
  reserveClosedPort,
  startEndpoint,
} from '../merchant-endpoint.js';
import { control } from './control-client.js';

const signingSecret = 'whsec_of_the_callbacks';

/** Creates a payment with that merchant reference, and sets its status. */
async function pay(server: MockServer, reference: string, status = 'paid'): Promise<string> {
  const referenceNumber = await createPayment(server, {
    merchantPaymentReference: reference,
    amount: 1,
    currency: 'EUR',
  });
  await server.setStatus(referenceNumber, status);
  return referenceNumber;
}

interface Row {
  readonly id: string;
  readonly merchantPaymentReference: string;
  readonly group: string;
}

/** `reference group` of each row. */
async function list(server: MockServer, query = ''): Promise<string[]> {
  const { body } = await control(server, 'GET', `/callbacks${query}`);
  return (body['callbacks'] as Row[]).map(
    ({ merchantPaymentReference, group }) => `${merchantPaymentReference} ${group}`,
  );
}

async function countsOf(server: MockServer): Promise<unknown> {
  const { body } = await control(server, 'GET', '/callbacks');
  return body['counts'];
}

const start = (endpoint: MerchantEndpoint, options: MockServerOptions = {}) =>
  startMockServer({ signingSecret, callbackUrl: endpoint.url, retryScheduleMs: [], ...options });

describe('the list of callbacks', () => {
  test('lists failures first, then the newest, and counts each group', async () => {
    const answers = [200, 500, 200, 401];
    await using endpoint = await startEndpoint((count) => answers[count - 1] ?? 200);
    await using server = await start(endpoint);
    for (const reference of ['one', 'two', 'three', 'four']) await pay(server, reference);
    server.callbackUrl = undefined;
    await pay(server, 'five');
    expect(await list(server)).toEqual([
      'four failed',
      'two failed',
      'five not-sent',
      'three done',
      'one done',
    ]);
    const counts = { failed: 2, waiting: 0, 'not-sent': 1, done: 2 };
    expect(await countsOf(server)).toEqual(counts);
    const { body } = await control(server, 'GET', '/state');
    expect(body['counts']).toMatchObject({ callbacks: counts });
  });

  test('is narrowed by group, search and limit', async () => {
    await using endpoint = await startEndpoint((count) => (count < 3 ? 500 : 200));
    await using server = await start(endpoint);
    for (const reference of ['Shoes-1', 'hat', 'Shoes-2']) await pay(server, reference);
    expect(await list(server, '?group=failed')).toEqual(['hat failed', 'Shoes-1 failed']);
    expect(await list(server, '?search=shoes')).toEqual(['Shoes-1 failed', 'Shoes-2 done']);
    expect(await list(server, '?search=shoes&group=done')).toEqual(['Shoes-2 done']);
    const { body } = await control(server, 'GET', '/callbacks?limit=1');
    expect(body).toMatchObject({ total: 3, callbacks: [{ merchantPaymentReference: 'hat' }] });
  });

  test('shows the outcome of each last attempt, and no body', async () => {
    await using endpoint = await startEndpoint(() => 503);
    await using server = await start(endpoint, {
      retryScheduleMs: [60_000],
      clock: createManualClock({ now: 0 }),
    });
    const referenceNumber = await pay(server, 'order-1');
    const { body } = await control(server, 'GET', '/callbacks');
    expect(body['callbacks']).toEqual([
      {
        id: server.deliveries[0]?.deliveryId,
        referenceNumber,
        merchantPaymentReference: 'order-1',
        status: 'paid',
        updatedAt: '1970-01-01T00:00:00.001+00:00',
        state: 'retrying',
        group: 'failed',
        last: {
          attempt: 1,
          sentAt: '1970-01-01T00:00:00.000Z',
          outcome: 'refused',
          response: { status: 503 },
          latencyMs: expect.any(Number),
          nextRetryAt: '1970-01-01T00:01:00.000Z',
          hint: expect.stringContaining('asks for a retry'),
        },
      },
    ]);
  });

  test.each(['', 'all', 'Failed'])('a group "%s" is refused', async (group) => {
    await using server = await startMockServer();
    expect(await control(server, 'GET', `/callbacks?group=${group}`)).toMatchObject({
      status: 400,
      body: {
        code: 'INVALID_REQUEST',
        option: 'group',
        message: expect.stringContaining('failed, waiting, not-sent, done'),
      },
    });
  });
});

describe('a callback is', () => {
  test('failed while nothing listens, and done once a later delivery of the change is acknowledged', async () => {
    await using endpoint = await startEndpoint();
    await using server = await start(endpoint, {
      callbackUrl: `http://127.0.0.1:${await reserveClosedPort()}/`,
    });
    const referenceNumber = await pay(server, 'order-1');
    expect(await list(server)).toEqual(['order-1 failed']);
    server.callbackUrl = endpoint.url;
    await server.setStatus(referenceNumber, 'refunded');
    // A delivery of another change does not count.
    expect(await list(server)).toEqual(['order-1 failed', 'order-1 done']);
    await server.resend(server.deliveries[0]?.id ?? '');
    expect(await list(server)).toEqual(['order-1 done', 'order-1 done', 'order-1 done']);
  });

  test.each(['tampered-body', 'wrong-secret', 'stale-timestamp'] as const)(
    'done when %s forged it and the endpoint refused it with 401',
    async (type) => {
      await using endpoint = await startEndpoint(() => 401);
      await using server = await start(endpoint);
      server.faults.add({ on: 'callback', type });
      await pay(server, 'order-1');
      expect(await list(server)).toEqual(['order-1 done']);
    },
  );

  test('failed when it was forged and the endpoint accepted it', async () => {
    await using endpoint = await startEndpoint();
    await using server = await start(endpoint);
    server.faults.add({ on: 'callback', type: 'tampered-body' });
    const referenceNumber = await pay(server, 'order-1');
    expect(await list(server)).toEqual(['order-1 failed']);
    await server.resend(referenceNumber);
    expect(await list(server)).toEqual(['order-1 done', 'order-1 done']);
  });

  test('failed when a forged one is answered with 500, which is no refusal', async () => {
    await using endpoint = await startEndpoint(() => 500);
    await using server = await start(endpoint);
    server.faults.add({ on: 'callback', type: 'tampered-body' });
    await pay(server, 'order-1');
    expect(await list(server)).toEqual(['order-1 failed']);
  });

  test('waiting after a drop fault until it is retried, and while a reorder fault holds it', async () => {
    await using endpoint = await startEndpoint();
    await using server = await start(endpoint, {
      clock: createManualClock(),
      retryScheduleMs: [1_000],
    });
    server.faults.add({ on: 'callback', type: 'drop' });
    await pay(server, 'lost');
    server.faults.add({ on: 'callback', type: 'reorder' });
    await pay(server, 'held');
    expect(await list(server)).toEqual(['held waiting', 'lost waiting']);
  });
});

describe('an edited callback', () => {
  test('is sent with the edited body, and signed again', async () => {
    await using endpoint = await startEndpoint();
    await using server = await start(endpoint);
    await pay(server, 'order-1');
    const body = '{"status" : "paid", "é": 1.10}';
    const answer = await control(server, 'POST', `/deliveries/${server.deliveries[0]?.id}/resend`, {
      edit: { body, signature: 'new' },
    });
    expect(answer).toMatchObject({ status: 200, body: { state: 'acknowledged', edited: 'new' } });
    const [, edited] = endpoint.received;
    expect(edited?.rawBody.toString()).toBe(body);
    expect(edited && isSigned(edited, signingSecret)).toBe(true);
    expect(await list(server)).toEqual(['order-1 done', 'order-1 done']);
  });

  test('keeps the original signature on request, and must be refused', async () => {
    await using endpoint = await startEndpoint();
    await using server = await start(endpoint);
    const referenceNumber = await pay(server, 'order-1');
    await control(server, 'POST', `/payments/${referenceNumber}/resend`, {
      edit: { body: '{"status":"refunded"}', signature: 'kept' },
    });
    const [original, edited] = endpoint.received;
    expect(edited && isSigned(edited, signingSecret)).toBe(false);
    expect(
      isSigned(
        { ...edited, rawBody: original?.rawBody } as Parameters<typeof isSigned>[0],
        signingSecret,
      ),
    ).toBe(true);
    expect(await list(server)).toEqual(['order-1 failed', 'order-1 done']);
  });

  test('is retried with the edited body, and takes no fault', async () => {
    await using endpoint = await startEndpoint((count) => (count === 2 ? 500 : 200));
    const clock = createManualClock();
    await using server = await start(endpoint, { clock, retryScheduleMs: [1_000] });
    const referenceNumber = await pay(server, 'order-1');
    server.faults.add({ on: 'callback', type: 'drop', times: Number.POSITIVE_INFINITY });
    await control(server, 'POST', `/payments/${referenceNumber}/resend`, { edit: { body: '[]' } });
    await clock.advance(1_000);
    expect(endpoint.received.map(({ rawBody }) => rawBody.toString()).slice(1)).toEqual([
      '[]',
      '[]',
    ]);
  });

  test('leaves the change failed when it is acknowledged', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 500 : 200));
    await using server = await start(endpoint);
    const referenceNumber = await pay(server, 'order-1');
    await control(server, 'POST', `/payments/${referenceNumber}/resend`, { edit: { body: '{}' } });
    expect(await list(server)).toEqual(['order-1 failed', 'order-1 done']);
  });

  test.each([
    { edit: 'text' },
    { edit: null },
    { edit: {} },
    { edit: { body: 5 } },
    { edit: { body: '', signature: 'none' } },
    { edit: { body: '', headers: {} } },
    { edit: { body: '' }, fault: { on: 'callback', type: 'drop' } },
  ])('%j is refused, naming the field', async (body) => {
    await using endpoint = await startEndpoint();
    await using server = await start(endpoint);
    const referenceNumber = await createPayment(server);
    const answer = await control(server, 'POST', `/payments/${referenceNumber}/resend`, body);
    expect(answer).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', option: expect.stringMatching(/^edit/) },
    });
    expect(endpoint.received).toEqual([]);
  });
});
