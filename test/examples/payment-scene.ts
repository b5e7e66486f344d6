import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { type MockServer, startMockServer } from '../../src/mock-server/server.js';
import type { Example } from './example-process.js';

export const signingSecret = 'whsec_of_the_examples';

/**
 * What every example is to do with what the service sends: handle a change once however often it
 * comes, refuse what is not signed, and refuse other methods.
 */
export async function expectToHandlePayments({ url, lines, printed }: Example): Promise<void> {
  await using service = await startMockServer({ signingSecret, callbackUrl: url });
  const reference = `order-${randomUUID()}`;
  const referenceNumber = await createPayment(service, reference);

  service.faults.add({ on: 'callback', type: 'duplicate', copies: 2, mode: 'in-turn' });
  await service.setStatus(referenceNumber, 'authorized');
  expect(answers(service)).toEqual([200, 200, 200]);

  service.faults.add({ on: 'callback', type: 'tampered-body' });
  await service.setStatus(referenceNumber, 'disputed');
  expect(answers(service).slice(3)).toEqual([401]);

  await service.setStatus(referenceNumber, 'paid');
  expect(answers(service).slice(4)).toEqual([200]);
  await printed(`${reference} is paid`);

  const ownLines = lines.filter((line) => line.startsWith(reference));
  expect(ownLines.sort()).toEqual([`${reference} is authorized`, `${reference} is paid`]);
}

async function createPayment(service: MockServer, reference: string): Promise<string> {
  const { url: baseUrl, apiKey, apiSecret } = service;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  const { payment } = await client.payments.create({
    merchantPaymentReference: reference,
    amount: 2500,
    currency: 'EUR',
  });
  await client.close();
  return payment.referenceNumber ?? '';
}

function answers(service: MockServer): (number | undefined)[] {
  return service.deliveries.map(({ response }) => response?.status);
}
