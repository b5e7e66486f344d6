import { expect, test } from 'vitest';
import { type PaymentOrReference, startMockServer } from '../../src/mock-server/index.js';
import { createPayment, order } from './merchant-client.js';
import { startEndpoint } from './merchant-endpoint.js';

const { merchantPaymentReference } = order;

type Named = readonly [name: string, payment: (referenceNumber: string) => PaymentOrReference];
const names: Named[] = [
  ['its referenceNumber', (referenceNumber) => referenceNumber],
  ['its merchantPaymentReference', () => merchantPaymentReference],
  // As the client's answer is typed: its fields may be absent.
  ['an answer', (referenceNumber) => ({ referenceNumber, createdAt: 'x', extra: 1 })],
  ['an answer without a number', () => ({ merchantPaymentReference, createdAt: 'x' })],
  ['what a store keeps', () => ({ merchantPaymentReference, recordedAt: new Date(), attempts: 1 })],
];

test.each(names)('everything takes a payment by %s', async (_what, toPayment) => {
  await using endpoint = await startEndpoint();
  await using server = await startMockServer({ callbackUrl: endpoint.url });
  await createPayment(server, { ...order, merchantPaymentReference: 'other' });
  const referenceNumber = await createPayment(server);
  const payment = toPayment(referenceNumber);
  expect(await server.pay(payment)).toMatchObject({ referenceNumber, status: 'paid' });
  expect(await server.setStatus(payment, 'refunded')).toMatchObject({ referenceNumber });
  expect(await server.resend(payment)).toMatchObject({ referenceNumber, status: 'refunded' });
  expect(await server.waitForDelivery(payment)).toMatchObject({ referenceNumber, status: 'paid' });
  expect(await server.waitForRequest(payment)).toMatchObject({ referenceNumber });
  expect(server.payments.get(payment)).toMatchObject({ referenceNumber, status: 'refunded' });
});
