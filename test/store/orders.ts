import { randomUUID } from 'node:crypto';
import type { PaymentStatusRecord } from '../../src/protocol/payment.js';
import type { CallbackStore, StatusChange, StoreContext } from '../../src/store/callback-store.js';
import { createPayment, recordOf, seconds } from '../contract/store/changes.js';
import { outcomeOf } from './outcome-of.js';

/** The payment of an order. */
export const order = (merchantPaymentReference: string) => ({
  merchantPaymentReference,
  amount: 2500,
  currency: 'EUR',
});

/** A change of `payment-1` of `order-1`, and where a test says so of another one. */
export function changeOf(
  fields: Parameters<ReturnType<typeof createPayment>>[0] & {
    readonly order?: string;
    readonly referenceNumber?: string;
  } = {},
): StatusChange {
  const { order: merchantPaymentReference = 'order-1', referenceNumber, ...change } = fields;
  return createPayment({
    merchantPaymentReference,
    referenceNumber: referenceNumber ?? 'payment-1',
  })({ key: 'change-1', updatedAt: seconds(0), ...change });
}

/** The record of a paid payment. */
export const paid = (merchantPaymentReference: string, referenceNumber: string) =>
  recordOf(merchantPaymentReference, { referenceNumber, status: 'paid' });

/** Processes a new change with this record. */
export async function settle(
  store: CallbackStore<undefined>,
  payment: PaymentStatusRecord,
): Promise<StoreContext<undefined>> {
  let seen: StoreContext<undefined> | undefined;
  await outcomeOf(store, { key: randomUUID(), payment }, async (context) => {
    seen = context;
  });
  if (seen === undefined) throw new Error('the work did not run');
  return seen;
}
