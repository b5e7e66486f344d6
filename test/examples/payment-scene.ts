import { randomUUID } from 'node:crypto';
import { PaymentClient } from 'merchant-payments';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';
import { expect } from 'vitest';
import type { Example } from './example-process.js';

export const signingSecret = 'whsec_of_the_examples';

/** A service that sends each callback once, so that what a test has not asked for does not happen. */
export function startService(): Promise<MockServer> {
  return startMockServer({ signingSecret, retryScheduleMs: [] });
}

/** What an example needs to reach it. */
export function environmentFor(service: MockServer): Record<string, string> {
  return {
    MERCHANT_PAYMENTS_BASE_URL: service.url,
    MERCHANT_PAYMENTS_API_KEY: service.apiKey,
    MERCHANT_PAYMENTS_API_SECRET: service.apiSecret,
    MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret,
  };
}

interface Scene {
  readonly service: MockServer;
  /** Stores an order at the example, and creates its payment. */
  readonly checkout: (reference: string) => Promise<unknown>;
  /** What it prints of an order that is paid. */
  readonly shipped?: (reference: string) => string;
}

/**
 * What every example is to do with what the service sends: handle a change once however often it is
 * delivered, refuse what is not signed, ship what is paid once and however late, keep the status of the
 * newest change, and ask for a retry when the order is not stored yet.
 */
export async function expectToHandlePayments(
  { url, lines, printed }: Example,
  { service, checkout, shipped = (reference) => `${reference} is shipped` }: Scene,
): Promise<void> {
  service.callbackUrl = url;
  const reference = `order-${randomUUID()}`;
  await checkout(reference);
  const referenceNumber = findPayment(service, reference);

  service.faults.add({ on: 'callback', type: 'duplicate', copies: 2, mode: 'in-turn' });
  await service.setStatus(referenceNumber, 'authorized');
  expect(answers(service)).toEqual([200, 200, 200]);

  service.faults.add({ on: 'callback', type: 'tampered-body' });
  await service.setStatus(referenceNumber, 'disputed');
  expect(answers(service).slice(3)).toEqual([401]);

  // The newer change is delivered first.
  service.faults.add({ on: 'callback', type: 'reorder' });
  await service.setStatus(referenceNumber, 'paid');
  await service.setStatus(referenceNumber, 'settled');
  await service.waitForDelivery({ referenceNumber, status: 'paid' });
  expect(answers(service).slice(4)).toEqual([200, 200]);
  await printed(shipped(reference));
  expect(linesOf(lines, reference)).toEqual([
    `${reference} is authorized`,
    `${reference} is settled`,
    shipped(reference),
  ]);

  const late = `order-${randomUUID()}`;
  await createPayment(service, late);
  const overtaking = findPayment(service, late);
  await service.setStatus(overtaking, 'paid');
  expect(answers(service).slice(6)).toEqual([503]);
  expect(linesOf(lines, late)).toEqual([]);
  await checkout(late);
  await service.resend(overtaking);
  expect(answers(service).slice(7)).toEqual([200]);
  await printed(shipped(late));
  expect(linesOf(lines, late)).toEqual([`${late} is paid`, shipped(late)]);
}

/** What the shop of the frameworks does after a decline: the same click tries again, and the attempt pays the order. */
export async function expectToTryAgain(
  { printed }: Pick<Example, 'printed'>,
  { service, checkout }: Pick<Scene, 'service' | 'checkout'>,
): Promise<void> {
  const reference = `order-${randomUUID()}`;
  expect(await checkout(reference)).toEqual({ status: 'pending' });
  await service.setStatus(findPayment(service, reference), 'declined');
  await printed(`${reference} is declined`);
  const clicks = [1, 2].map(() => checkout(reference));
  expect(await Promise.all(clicks)).toEqual(Array(2).fill({ status: 'pending' }));
  await service.setStatus(findPayment(service, `${reference}-2`), 'paid');
  await printed(`${reference} is shipped`);
  expect(await checkout(reference)).toMatchObject({ status: 'paid' });
  const payments = service.payments.list();
  const attempts = payments.filter((one) => one.merchantPaymentReference.startsWith(reference));
  expect(attempts).toHaveLength(2);
}

/** An example whose handler the test itself calls. */
export const inProcess = (url: string, lines: readonly string[]): Example => ({
  url,
  lines,
  errors: [],
  printed: async (text) => expect(lines.join('\n')).toContain(text),
  stop: async () => undefined,
  [Symbol.asyncDispose]: async () => undefined,
});

/** Creates a payment at the service, and stores nothing. */
export async function createPayment(service: MockServer, reference: string): Promise<void> {
  const { url: baseUrl, apiKey, apiSecret } = service;
  await using client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  const input = { merchantPaymentReference: reference, amount: 2500, currency: 'EUR' };
  await client.payments.create(input);
}

/** The referenceNumber of an order's payment. */
export function findPayment(service: MockServer, reference: string): string {
  const payments = service.payments.list();
  const payment = payments.find((one) => one.merchantPaymentReference === reference);
  return payment?.referenceNumber ?? expect.fail(`no payment of ${reference}`);
}

const linesOf = (lines: readonly string[], reference: string): string[] =>
  lines.filter((line) => line.startsWith(reference)).sort();

function answers(service: MockServer): (number | undefined)[] {
  return service.deliveries.map(({ response }) => response?.status);
}
