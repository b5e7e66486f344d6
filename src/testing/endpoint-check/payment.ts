import { randomUUID } from 'node:crypto';
import type { PaymentStatusRecord } from '../../protocol/payment.js';

/** A payment that was made up for one check. */
export interface CheckedPayment {
  /** A random UUID: no payment of the service has it. */
  readonly referenceNumber: string;
  /** The option `merchantPaymentReference`, or a random `check-…`. */
  readonly merchantPaymentReference: string;
}

/** A status that no endpoint knows. The interface names `paid` only and promises no list. */
export const UNKNOWN_STATUS = 'check_unknown_status';

export function createCheckedPayment(merchantPaymentReference: string): CheckedPayment {
  return Object.freeze({ referenceNumber: randomUUID(), merchantPaymentReference });
}

interface Change {
  readonly status?: string;
  /** How long after the payment's creation, in seconds. */
  readonly afterSeconds?: number;
}

/** The record of a change (interface section 2.2). Not in the future, which an endpoint may refuse. */
export function createRecord(
  { referenceNumber, merchantPaymentReference }: CheckedPayment,
  { status = 'paid', afterSeconds = 10 }: Change = {},
): PaymentStatusRecord {
  const createdAtMs = Date.now() - 60_000;
  return {
    referenceNumber,
    merchantPaymentReference,
    providerReference: `check-${referenceNumber.slice(0, 8)}`,
    status,
    createdAt: toDateTime(createdAtMs),
    updatedAt: toDateTime(createdAtMs + afterSeconds * 1000),
  };
}

const toDateTime = (epochMs: number): string =>
  new Date(epochMs).toISOString().replace('Z', '+00:00');
