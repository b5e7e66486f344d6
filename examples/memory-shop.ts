// The shop of the framework examples, with orders in memory. examples/shop has them in Postgres, and passes
// the outbox to the callback handler.

import { PaymentClient, RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import { memoryOutbox, type PaymentOutbox } from 'merchant-payments/outbox';
import type { PaymentContext } from 'merchant-payments/receiver';

/** The shop's own: an amount that the browser sends could be anything. */
const PRICE = 2500;

interface Order {
  status: string;
  shippedAt?: Date;
}

const orders = new Map<string, Order>();
let outbox: PaymentOutbox | undefined;

/** A click on "Pay". However often it is repeated, one reference has one payment. */
export async function checkout(reference: string): Promise<Order> {
  const order = orders.get(reference) ?? { status: 'waiting for payment' };
  orders.set(reference, order); // before the payment: its callback may arrive before the answer
  outbox ??= memoryOutbox({ client: PaymentClient.fromEnv() });
  await outbox.create({ merchantPaymentReference: reference, amount: PRICE, currency: 'EUR' });
  return order;
}

/** `onPayment` of these examples. */
export async function settle(
  { payment }: VerifiedCallback,
  { stale }: PaymentContext<unknown>,
): Promise<void> {
  const reference = payment.merchantPaymentReference;
  const order = orders.get(reference);
  // Answered with 503: the service retries. A 200 would lose the payment.
  if (order === undefined) throw new RetryLaterError('order not stored yet');
  // Ships once, however late the change is.
  if (payment.status === 'paid' && order.shippedAt === undefined) {
    order.shippedAt = new Date();
    console.log(`${reference} is shipped`);
  }
  // An older change must not overwrite the status.
  if (!stale) {
    order.status = payment.status;
    console.log(`${reference} is ${payment.status}`);
  }
}
