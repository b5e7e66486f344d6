// The shop of the framework examples, with orders in memory. examples/shop has them in Postgres.

import { isPaid, PaymentClient, RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { PaymentContext } from 'merchant-payments/receiver';
import { memoryStore } from 'merchant-payments/store';

/** The shop's own: an amount that the browser sends could be anything. */
const PRICE = 2500;

interface Order {
  status: string;
  shippedAt?: Date;
}

const orders = new Map<string, Order>();
export const store = memoryStore({ client: PaymentClient.fromEnv() });

/** A click on "Pay". Another one sends no second payment. */
export async function checkout(merchantPaymentReference: string): Promise<Order> {
  const order = orders.get(merchantPaymentReference) ?? { status: 'waiting for payment' };
  orders.set(merchantPaymentReference, order); // before the payment: its callback may arrive before the answer
  await store.create({ merchantPaymentReference, amount: PRICE, currency: 'EUR' });
  return order;
}

/** `onPayment` of these examples. */
export async function settle(
  { payment }: VerifiedCallback,
  { current }: PaymentContext<unknown>,
): Promise<void> {
  const reference = payment.merchantPaymentReference;
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
