import { parseInstant } from '../protocol/instant.js';
import { givenName, invalidOption } from '../protocol/options.js';
import { isDateTime, isPaid } from '../protocol/payment.js';
import type { StatusChange } from './callback-store.js';
import type { FailurePolicy } from './failure.js';
import type { ServiceRecord, StoredForms } from './payment-row.js';

/** What every store reads of a change. Read once, because the caller may change its object later. */
export interface ReadChange {
  readonly merchantPaymentReference: string;
  readonly referenceNumber: string;
  readonly key: string;
  /** When it happened, in epoch microseconds, as decimal digits: a bigint column holds more than a safe integer. */
  readonly occurredAtUs: string;
  /** Its place among those of its payment: its half microseconds, plus one if it is paid, as decimal digits. */
  readonly rank: string;
  readonly isPaid: boolean;
}

/**
 * @throws {InvalidOptionError} when the key or a field of the record is missing: without one, different changes would
 * look the same
 */
export function readStatusChange(change: StatusChange): ReadChange {
  const { key, payment } = change;
  const { merchantPaymentReference, referenceNumber, updatedAt } = payment ?? {};
  const reference = givenName(merchantPaymentReference, 'payment.merchantPaymentReference');
  const number = givenName(referenceNumber, 'payment.referenceNumber');
  const name = givenName(key, 'key');
  if (!isDateTime(updatedAt)) {
    const expected = 'an ISO 8601 date-time with a UTC offset';
    throw invalidOption('payment.updatedAt', expected, updatedAt);
  }
  const { occurredAt, microseconds } = parseInstant(updatedAt);
  const us = BigInt(occurredAt.getTime()) * 1000n + BigInt(microseconds);
  const paid = isPaid(payment);
  const rank = String(us * 2n + (paid ? 1n : 0n));
  return {
    merchantPaymentReference: reference,
    referenceNumber: number,
    key: name,
    occurredAtUs: String(us),
    rank,
    isPaid: paid,
  };
}

/** Identifies a change, by names that every store can handle. */
export type ChangeName = Pick<ReadChange, 'merchantPaymentReference' | 'referenceNumber' | 'key'>;

/** Identifies a payment of an order. */
export type PaymentName = Omit<ChangeName, 'key'>;

/** A change as a store handles it. */
export interface Change extends ReadChange {
  /** What the change says about its payment. */
  readonly serviceRecord: ServiceRecord;
  readonly policy: FailurePolicy;
  /** The names in full. */
  readonly full: ChangeName;
}

/** @throws {InvalidOptionError} like {@link readStatusChange} */
export function readChange(change: StatusChange, { toName }: StoredForms): Change {
  const read = readStatusChange(change);
  const { occurredAtUs, rank, isPaid: paid } = read;
  const referenceNumber = toName(read.referenceNumber);
  const payment = JSON.stringify(change.payment);
  return {
    merchantPaymentReference: toName(read.merchantPaymentReference),
    referenceNumber,
    key: toName(read.key),
    occurredAtUs,
    rank,
    isPaid: paid,
    serviceRecord: { referenceNumber, payment, updatedAtUs: Number(occurredAtUs) },
    policy: change.failures ?? {},
    full: read,
  };
}

const SHORT_PRINTABLE = /^(?!sha256:)[!-z|~]{1,128}$/;

/** Whether a reference or key is stored unchanged. Any other is stored as a digest. */
export function isPlainName(text: string): boolean {
  return SHORT_PRINTABLE.test(text);
}
