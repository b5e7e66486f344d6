import { describe, expect, test } from 'vitest';
import type {
  ControlPaymentDetail,
  ControlRequest,
} from '../../../src/mock-server/control/control-types.js';
import { type Fault, type MockServer, startMockServer } from '../../../src/mock-server/index.js';
import { createPayment, order, postPayment } from '../merchant-client.js';
import { startEndpoint } from '../merchant-endpoint.js';
import { control, readState } from './control-client.js';

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
  const { requests } = await readState(server);
  return { ...(requests[0] as ControlRequest), server };
}

describe('the answer to a request', () => {
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
    expect(JSON.parse(request.answer?.body ?? '')).toMatchObject({ status: 'pending' });
  });

  test('that is late is withheld until it is sent, and for ever when the caller left', async () => {
    await using server = await startMockServer();
    server.faults.add({ on: 'request', type: 'late-answer', delayMs: 3_600_000 });
    const leave = new AbortController();
    const left = postPayment(server, order, { signal: leave.signal }).catch(() => undefined);
    const recorded = await server.waitForRequest(order.merchantPaymentReference);
    await expect
      .poll(async () => (await readState(server)).requests[0])
      .toMatchObject({ outcome: 'waiting', answer: { status: 201, withheld: true } });
    leave.abort();
    await left;
    await expect.poll(() => recorded.ended).toBe(true);
    expect((await readState(server)).requests).toMatchObject([
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
    const { requests } = await readState(server);
    expect(requests).toMatchObject([{ outcome: 'lost' }]);
    expect(requests[0]).not.toHaveProperty('answer');
    expect(requests[0]).not.toHaveProperty('referenceNumber');
  });

  test('is kept up to 4,096 bytes', async () => {
    await using server = await startMockServer({ answerFields: { note: 'ä'.repeat(5_000) } });
    const sent = await (await postPayment(server)).text();
    const { answer } = (await readState(server)).requests[0] as ControlRequest;
    expect(answer?.cut).toBe(true);
    expect(Buffer.from(answer?.body.slice(0, -1) ?? '').byteLength).toBeLessThanOrEqual(4_096);
    expect(sent.startsWith(answer?.body.slice(0, -1) ?? '-')).toBe(true);
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
      others: [{ referenceNumber: first, status: 'pending' }],
      deliveries: [{ attempts: [{ hint: expect.stringContaining('compare the signing secret') }] }],
    });
  });
});
