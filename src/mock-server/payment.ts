import type { PaymentStatusRecord } from '../protocol/payment.js';

/** A payment of the mock service: its status record and what it was created from. */
export interface MockPayment extends Readonly<PaymentStatusRecord> {
  /** The amount, as given at creation. */
  readonly amount: number;
  /** The currency, as given at creation. */
  readonly currency: string;
  /** Fields of the creation beyond those of interface section 2.1, as given. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** The last 100 statuses it had, oldest first. That of its creation is `at` its `createdAt`. */
  readonly history: readonly MockStatusChange[];
}

/** A status that a payment had or has. */
export interface MockStatusChange {
  /** The status. */
  readonly status: string;
  /** Since when: the `updatedAt` of the change. */
  readonly at: string;
}

/** Read access to the payments of a mock service. */
export interface MockPayments {
  /** Every payment in the order of creation, as it is now. */
  list(): MockPayment[];
  /** One payment as it is now; `undefined` when there is none. */
  get(referenceNumber: string): MockPayment | undefined;
}

/** The fields of interface section 2.2, in its order. */
export function toStatusRecord(payment: MockPayment): PaymentStatusRecord {
  return {
    referenceNumber: payment.referenceNumber,
    merchantPaymentReference: payment.merchantPaymentReference,
    providerReference: payment.providerReference,
    status: payment.status,
    createdAt: payment.createdAt,
    updatedAt: payment.updatedAt,
  };
}
