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
  /** The UTC offset that its times are written with, in whole hours from 0 to 9. */
  readonly offsetHours?: number;
}

/** The record of a change (interface section 2.2). Not in the future, which an endpoint may refuse. */
export function createRecord(
  { referenceNumber, merchantPaymentReference }: CheckedPayment,
  { status = 'paid', afterSeconds = 10, offsetHours = 0 }: Change = {},
): PaymentStatusRecord {
  const createdAtMs = Date.now() - 60_000;
  return {
    referenceNumber,
    merchantPaymentReference,
    providerReference: `check-${referenceNumber.slice(0, 8)}`,
    status,
    createdAt: toDateTime(createdAtMs, offsetHours),
    updatedAt: toDateTime(createdAtMs + afterSeconds * 1000, offsetHours),
  };
}

const toDateTime = (epochMs: number, offsetHours: number): string =>
  new Date(epochMs + offsetHours * 3_600_000).toISOString().replace('Z', `+0${offsetHours}:00`);
