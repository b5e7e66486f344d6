import { describe, expect, test } from 'vitest';
import type {
  ControlPaymentDetail,
  ControlRequest,
  ControlRequestPage,
} from '../../../src/mock-server/control/control-types.js';
import { type Fault, type MockServer, startMockServer } from '../../../src/mock-server/index.js';
import { createPayment, order, postPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { control } from './control-client.js';

async function listRequests(server: MockServer, query = ''): Promise<ControlRequestPage> {
  return (await control(server, 'GET', `/requests${query}`)).body as never;
}

async function showPayment(server: MockServer, id: string): Promise<ControlPaymentDetail> {
  return (await control(server, 'GET', `/payments/${encodeURIComponent(id)}`)).body as never;
}

/** The request that a caller sends under a fault, as the control interface shows it. */
async function sendUnder(fault: Fault): Promise<ControlRequest & { server: MockServer }> {
  const server = await startMockServer();
  server.faults.add(fault);
  await postPayment(server)
    .then((answer) => answer.text())
    .catch(() => undefined);
  const { requests } = await listRequests(server);
  return { ...(requests[0] as ControlRequest), server };
}

describe('the answer to a request', () => {
  test('is kept as the caller got it, with the payment that it names', async () => {
    await using server = await startMockServer();
    const answer = await postPayment(server);
    const body = await answer.text();
    const { requests } = await listRequests(server);
    expect(requests).toMatchObject([
      {
        outcome: 'accepted',
        status: 201,
        merchantPaymentReference: order.merchantPaymentReference,
        referenceNumber: server.payments.list()[0]?.referenceNumber,
        answer: { status: 201, body, headers: { 'content-type': 'application/json' } },
      },
    ]);
    expect(requests[0]?.answer).not.toHaveProperty('cut');
    expect(requests[0]?.answer).not.toHaveProperty('withheld');
  });

  test('that a fault lost is kept, and withheld', async () => {
    const { server, ...request } = await sendUnder({ on: 'request', type: 'lost-answer' });
    await using _ = server;
    const [payment] = server.payments.list();
    expect(request).toMatchObject({
      outcome: 'lost',
      ended: true,
      fault: 'lost-answer',
      referenceNumber: payment?.referenceNumber,
      answer: { status: 201, withheld: true },
    });
    expect(request).not.toHaveProperty('status');
    expect(JSON.parse(request.answer?.body ?? '')).toMatchObject({ status: 'created' });
  });

  test('that is late is withheld until it is sent, and for ever when the caller left', async () => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'late-answer', delayMs: 3_600_000 });
    const leave = new AbortController();
    const left = postPayment(server, order, { signal: leave.signal }).catch(() => undefined);
    const recorded = await server.waitForRequest(order.merchantPaymentReference);
    await expect
      .poll(async () => (await listRequests(server)).requests[0])
      .toMatchObject({ outcome: 'waiting', answer: { status: 201, withheld: true } });
    leave.abort();
    await left;
    await expect.poll(() => recorded.ended).toBe(true);
    expect((await listRequests(server)).requests).toMatchObject([
      { outcome: 'lost', answer: { withheld: true } },
    ]);
  });

  test.each(['truncated-body', 'reset-in-body'] as const)(
    'that %s breaks off is kept as far as it was sent',
    async (type) => {
      const { server, ...request } = await sendUnder({ on: 'request', type });
      await using _ = server;
      const length = Number(request.answer?.headers['content-length']);
      expect(request).toMatchObject({ outcome: 'accepted', status: 201, answer: { cut: true } });
      expect(request.answer?.body).toHaveLength(Math.ceil(length / 2));
    },
  );

  test.each(['reset-before-headers', 'hang'] as const)('does not exist under %s', async (type) => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type });
    const leave = new AbortController();
    const sent = postPayment(server, order, { signal: leave.signal }).catch(() => undefined);
    const recorded = await server.waitForRequest(order.merchantPaymentReference);
    leave.abort();
    await sent;
    await expect.poll(() => recorded.ended).toBe(true);
    const { requests } = await listRequests(server);
    expect(requests).toMatchObject([{ outcome: 'lost' }]);
    expect(requests[0]).not.toHaveProperty('answer');
    expect(requests[0]).not.toHaveProperty('referenceNumber');
  });

  test('is kept up to 4,096 bytes', async () => {
    await using server = await startMockServer({ answerFields: { note: 'ä'.repeat(5_000) } });
    const sent = await (await postPayment(server)).text();
    const { answer } = (await listRequests(server)).requests[0] as ControlRequest;
    expect(answer?.cut).toBe(true);
    expect(Buffer.from(answer?.body.slice(0, -1) ?? '').byteLength).toBeLessThanOrEqual(4_096);
    expect(sent.startsWith(answer?.body.slice(0, -1) ?? '-')).toBe(true);
  });
});

describe('the list of requests', () => {
  async function startWithRequests() {
    // By the seed, no identifier holds what is searched for.
    const server = await startMockServer({ seed: 7 });
    for (const reference of ['order-1', 'order-17', 'shoes']) {
      await postPayment(server, { ...order, merchantPaymentReference: reference });
    }
    server.faults.add({ on: 'request', type: 'lost-answer' });
    await postPayment(server).catch(() => undefined);
    await postPayment(server, { ...order, amount: 'many' });
    return server;
  }
  const references = ({ requests }: ControlRequestPage) =>
    requests.map(({ merchantPaymentReference }) => merchantPaymentReference);

  test.each([
    ['', 5],
    ['?outcome=accepted', 3],
    ['?outcome=refused', 1],
    ['?outcome=lost', 1],
    ['?merchantPaymentReference=order-1', 3],
    ['?merchantPaymentReference=order-1&outcome=lost', 1],
    ['?merchantPaymentReference=', 0],
    ['?search=LOST', 1],
    ['?search=400', 1],
    ['?search=api/payments', 5],
    ['?search=nothing', 0],
  ])('%s finds %i', async (query, total) => {
    await using server = await startWithRequests();
    const page = await listRequests(server, query);
    expect([page.total, page.requests.length]).toEqual([total, total]);
  });

  test('puts what a search fits best first, and counts all', async () => {
    await using server = await startWithRequests();
    const page = await listRequests(server, '?search=order-1&limit=4');
    expect(references(page)).toEqual(['order-1', 'order-1', 'order-1', 'order-17']);
    expect(references(await listRequests(server, '?search=17&limit=1'))).toEqual(['order-17']);
    const { referenceNumber } = server.payments.list()[2] ?? {};
    const found = await listRequests(server, `?search=${referenceNumber}&limit=1`);
    expect(references(found)).toEqual(['shoes']);
    expect(references(await listRequests(server, `?referenceNumber=${referenceNumber}`))).toEqual([
      'shoes',
    ]);
  });
});

describe('a payment', () => {
  test('shows its requests, the other payments of its order, and why its callback failed', async () => {
    await using endpoint = await startEndpoint(() => 401);
    await using server = await startMockServer({ callbackUrl: endpoint.url, retryScheduleMs: [] });
    server.faults.add({ on: 'request', type: 'server-error' });
    await postPayment(server);
    const first = await createPayment(server);
    const second = await createPayment(server);
    await createPayment(server, { ...order, merchantPaymentReference: 'other' });
    await server.setStatus(second, 'paid');
    const detail = await showPayment(server, first);
    expect(detail.requests).toMatchObject([
      { outcome: 'refused', status: 500, fault: 'server-error' },
      { outcome: 'accepted', referenceNumber: first },
      { outcome: 'accepted', referenceNumber: second },
    ]);
    expect(detail.payment).not.toHaveProperty('secondOf');
    expect(detail.others).toMatchObject([{ referenceNumber: second, status: 'paid' }]);
    const other = await showPayment(server, second);
    expect(other).toMatchObject({
      payment: { secondOf: first },
      others: [{ referenceNumber: first, status: 'created' }],
      deliveries: [{ attempts: [{ hint: expect.stringContaining('compare the signing secret') }] }],
    });
  });

  test('is named by its merchantPaymentReference, unless several have that', async () => {
    await using server = await startMockServer();
    const reference = 'shoes / 1';
    const referenceNumber = await createPayment(server, {
      ...order,
      merchantPaymentReference: reference,
    });
    expect((await showPayment(server, reference)).payment).toMatchObject({ referenceNumber });
    const path = `/payments/${encodeURIComponent(reference)}`;
    for (const change of ['status', 'resend']) {
      const body = change === 'status' ? { status: 'paid' } : {};
      const answer = await control(server, 'POST', `${path}/${change}`, body);
      expect(answer).toMatchObject({ status: 200, body: { referenceNumber } });
    }
    const second = await createPayment(server, { ...order, merchantPaymentReference: reference });
    expect(await control(server, 'GET', path)).toMatchObject({
      status: 400,
      body: { code: 'INVALID_REQUEST', message: expect.stringContaining(second) },
    });
  });

  test('that is the second of its order is counted and listed', async () => {
    await using server = await startMockServer();
    for (let count = 0; count < 3; count += 1) await createPayment(server);
    await createPayment(server, { ...order, merchantPaymentReference: 'other' });
    const { body: state } = await control(server, 'GET', '/state');
    expect(state).toMatchObject({ counts: { payments: 4, secondPayments: 2 } });
    const { body } = await control(server, 'GET', '/payments?second=true');
    expect(body).toMatchObject({ total: 2, payments: [{}, {}] });
    const ofOrder = await control(server, 'GET', '/payments?merchantPaymentReference=other');
    expect(ofOrder.body).toMatchObject({ total: 1 });
  });
});

test('attempts are listed by order and outcome, with what the endpoint said', async () => {
  await using endpoint = await startEndpoint((count) => (response) => {
    response.writeHead(count === 1 ? 503 : 200).end(count === 1 ? '{"code":"BUSY"}' : 'ok');
  });
  await using server = await startMockServer({ callbackUrl: endpoint.url, retryScheduleMs: [] });
  await createPayment(server);
  await createPayment(server, { ...order, merchantPaymentReference: 'other' });
  await server.pay('order-1');
  await server.pay({ merchantPaymentReference: 'other' });
  const attempts = async (query: string) =>
    (await control(server, 'GET', `/deliveries${query}`)).body['attempts'];
  expect(await attempts('?outcome=refused')).toMatchObject([
    { merchantPaymentReference: 'order-1', answerLine: 'BUSY' },
  ]);
  expect(await attempts('?merchantPaymentReference=other')).toMatchObject([
    { outcome: 'acknowledged', answerLine: 'ok' },
  ]);
  expect(await attempts('?merchantPaymentReference=other&outcome=refused')).toEqual([]);
});
