// The shop of the framework examples, with orders in memory. examples/shop has them in Postgres.

import { isPaid, PaymentClient, RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { StoreContext } from 'merchant-payments/store';
import { memoryStore } from 'merchant-payments/store';

/** The shop's own: an amount that the browser sends could be anything. */
const PRICE = 2500;

interface Order {
  status?: string;
  shippedAt?: Date;
}

const orders = new Map<string, Order>();
export const store = memoryStore({
  client: PaymentClient.fromEnv(),
  declined: ['declined'], // your service's statuses after which a customer may try again
});

/**
 * A click on "Pay". Another one sends no second payment, except after a decline, when it tries again. Resolves with what
 * the page shows: the status of the payment that has paid the order, or of the latest attempt.
 */
export async function checkout(merchantPaymentReference: string): Promise<Order> {
  const order = orders.get(merchantPaymentReference) ?? {};
  orders.set(merchantPaymentReference, order); // before the payment: its callback may arrive before the answer
  const stored = await store.create({ merchantPaymentReference, amount: PRICE, currency: 'EUR' });
  const status = stored.state === 'created' ? stored.payment?.status : undefined;
  return { ...order, status: status ?? stored.state };
}

/** `onPayment` of these examples. */
export async function settle(
  { payment }: VerifiedCallback,
  { order: reference, current }: StoreContext<unknown>,
): Promise<void> {
  const order = orders.get(reference);
  // Answered with 503: the service retries. A 200 would lose the payment.
  if (order === undefined) throw new RetryLaterError('order not stored yet');
  // Ships once, however late the change is.
  if (isPaid(payment) && order.shippedAt === undefined) {
    order.shippedAt = new Date();
    console.log(`${reference} is shipped`);
  }
  // An older change must not overwrite the status.
  if (current) {
    order.status = payment.status;
    console.log(`${reference} is ${payment.status}`);
  }
}
