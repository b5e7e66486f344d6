// What an order goes through in these examples: stored, paid for, shipped once. The orders are in
// memory; the statement that a database needs in a place is beside it.

import {
  type CreatePaymentInput,
  MerchantPaymentsError,
  PaymentClient,
  RetryLaterError,
} from 'merchant-payments';
import type { PaymentContext, VerifiedCallback } from 'merchant-payments/receiver';

interface Order {
  status: string;
  shippedAt?: Date;
}

const orders = new Map<string, Order>();
let client: PaymentClient | undefined;

/** The order is stored first: the callback of its payment can be faster than the answer to `create`. */
export async function checkout(input: CreatePaymentInput): Promise<Order> {
  const reference = input.merchantPaymentReference;
  // INSERT INTO orders …, committed; a second click fails on the primary key.
  if (orders.has(reference)) throw new Error(`there is an order ${reference} already`);
  const order: Order = { status: 'waiting for payment' };
  orders.set(reference, order);
  client ??= PaymentClient.fromEnv();
  try {
    await client.payments.create(input);
  } catch (error) {
    const outcome = error instanceof MerchantPaymentsError ? error.requestOutcome : undefined;
    // The payment may exist: it is not created again, and its callback settles the order.
    if (outcome !== 'unknown' && outcome !== 'accepted') throw error;
  }
  return order;
}

/** `onPayment` of every example: called once for each status change. */
export async function settle(
  { payment }: VerifiedCallback,
  { stale }: PaymentContext<unknown>,
): Promise<void> {
  const reference = payment.merchantPaymentReference;
  const order = orders.get(reference); // SELECT … WHERE reference = $1 FOR UPDATE
  // Answered with 503: the service retries. A 200 would lose the payment.
  if (order === undefined) throw new RetryLaterError('order not stored yet');
  // Once, and due however late the change is: UPDATE … SET shipped_at = now() … AND shipped_at IS NULL
  if (payment.status === 'paid' && order.shippedAt === undefined) {
    order.shippedAt = new Date();
    console.log(`${reference} is shipped`);
  }
  // The status of the newest change, which an older one must not turn back.
  if (!stale) {
    order.status = payment.status;
    console.log(`${reference} is ${payment.status}`);
  }
}
