import { parseInstant } from '../protocol/instant.js';
import { givenName, invalidOption } from '../protocol/options.js';
import { ownFields } from '../protocol/own-fields.js';
import { isDateTime, isPaid } from '../protocol/payment.js';
import type { StatusChange } from './callback-store.js';

/** What every store reads of a change. Read once, because the caller may change its object later. */
export interface ReadChange {
  readonly merchantPaymentReference: string;
  readonly referenceNumber: string;
  readonly key: string;
  /** When it happened, in epoch microseconds, as decimal digits: a bigint column holds more than a safe integer. */
  readonly occurredAtUs: string;
  readonly isPaid: boolean;
  readonly processStale: boolean;
}

/**
 * @throws {InvalidOptionError} when the key or a field of the record is missing: without one, different changes would
 * look the same
 */
export function readStatusChange(change: StatusChange): ReadChange {
  const { key, payment: given, processStale } = ownFields(change);
  const payment = ownFields(given);
  const { merchantPaymentReference, referenceNumber, updatedAt } = payment;
  const names = {
    merchantPaymentReference: givenName(
      merchantPaymentReference,
      'payment.merchantPaymentReference',
    ),
    referenceNumber: givenName(referenceNumber, 'payment.referenceNumber'),
    key: givenName(key, 'key'),
  };
  if (!isDateTime(updatedAt)) {
    const expected = 'an ISO 8601 date-time with a UTC offset';
    throw invalidOption('payment.updatedAt', expected, updatedAt);
  }
  const { occurredAt, microseconds } = parseInstant(updatedAt);
  const occurredAtUs = String(BigInt(occurredAt.getTime()) * 1000n + BigInt(microseconds));
  return { ...names, occurredAtUs, isPaid: isPaid(payment), processStale: processStale ?? true };
}
