// The shop of the framework examples, with orders in memory. examples/order has them in Postgres.

import {
  type CreatePaymentInput,
  MerchantPaymentsError,
  PaymentClient,
  RetryLaterError,
  type VerifiedCallback,
} from 'merchant-payments';
import type { PaymentContext } from 'merchant-payments/receiver';

interface Order {
  status: string;
  shippedAt?: Date;
}

const orders = new Map<string, Order>();
let client: PaymentClient | undefined;

/** Stores the order first: the callback of its payment can be faster than the answer to `create`. */
export async function checkout(input: CreatePaymentInput): Promise<Order> {
  const reference = input.merchantPaymentReference;
  if (orders.has(reference)) throw new Error(`the order ${reference} exists already`);
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

/** `onPayment` of these examples. */
export async function settle(
  { payment }: VerifiedCallback,
  { stale }: PaymentContext<unknown>,
): Promise<void> {
  const reference = payment.merchantPaymentReference;
  const order = orders.get(reference);
  // Answered with 503: the service retries. A 200 would lose the payment.
  if (order === undefined) throw new RetryLaterError('order not stored yet');
  // Once, however late the change is.
  if (payment.status === 'paid' && order.shippedAt === undefined) {
    order.shippedAt = new Date();
    console.log(`${reference} is shipped`);
  }
  // An older change must not turn the status back.
  if (!stale) {
    order.status = payment.status;
    console.log(`${reference} is ${payment.status}`);
  }
}
