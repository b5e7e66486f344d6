import { randomUUID } from 'node:crypto';
import type { PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type { StatusChange } from '../../../src/store/callback-store.js';

/** A time as the service writes it: sixteen digits in microseconds, which a store must not round. */
export function instant(epochMs: number, microseconds = 0): string {
  const fraction = String(microseconds).padStart(3, '0');
  return `${new Date(epochMs).toISOString().slice(0, -1)}${fraction}Z`;
}

const START_MS = Date.UTC(2026, 2, 1, 12, 0, 0, 123);

/** The time `count` seconds and `microseconds` after the default time of changes. */
export function seconds(count: number, microseconds = 0): string {
  return instant(START_MS + count * 1000, microseconds);
}

interface RecordFields {
  readonly referenceNumber: string;
  readonly status: string;
  /** Seconds after the creation. */
  readonly seconds?: number;
}

/** A status record of a payment. */
export function recordOf(
  merchantPaymentReference: string,
  { referenceNumber, status, seconds: after = 0 }: RecordFields,
): PaymentStatusRecord {
  return {
    referenceNumber,
    merchantPaymentReference,
    providerReference: `provider-${referenceNumber}`,
    status,
    createdAt: seconds(0, 123),
    updatedAt: seconds(after, 123),
  };
}

/** What a case decides about a change. */
type ChangeFields = Partial<Omit<StatusChange, 'payment'>> &
  Partial<Pick<PaymentStatusRecord, 'status' | 'updatedAt'>>;

/** Creates changes of one payment. */
export type Payment = (change?: ChangeFields) => StatusChange;

/** A payment that no other case uses, of an order of its own unless one is given. */
export function createPayment({
  merchantPaymentReference = randomUUID(),
  referenceNumber = randomUUID(),
}: Partial<
  Pick<PaymentStatusRecord, 'merchantPaymentReference' | 'referenceNumber'>
> = {}): Payment {
  return ({ status = 'authorized', updatedAt = seconds(0), ...change } = {}) => ({
    key: randomUUID(),
    payment: {
      ...recordOf(merchantPaymentReference, { referenceNumber, status }),
      updatedAt,
    },
    ...change,
  });
}

/** Two payments of one order. */
export function createTwoPayments(): readonly [Payment, Payment] {
  const merchantPaymentReference = randomUUID();
  return [createPayment({ merchantPaymentReference }), createPayment({ merchantPaymentReference })];
}
