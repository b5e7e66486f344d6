import { parseInstant } from '../protocol/instant.js';
import { invalidOption, text, wholeNumber } from '../protocol/options.js';
import { fieldOf, isObject } from '../protocol/own-fields.js';
import { isDateTime } from '../protocol/payment.js';
import type { ListedPayment } from './payment-store.js';

const KINDS: readonly unknown[] = ['unresolved', 'no-callback', undefined];
const REMEDY = 'pass the item as attention() listed it, or as it came back from JSON';

/**
 * Reads a payment as `attention()` listed it.
 *
 * @throws {InvalidOptionError} when it is no such item, or has not all that a decision is based on
 */
export function readListed(item: ListedPayment): {
  readonly merchantPaymentReference: string;
  readonly attempts: number;
  readonly listedAtMs: number;
} {
  if (!isObject(item) || !KINDS.includes(fieldOf(item, 'kind'))) {
    const expected = "an item of attention() of the kind 'unresolved' or 'no-callback'";
    throw invalidOption('item', expected, item);
  }
  return {
    merchantPaymentReference: text(
      fieldOf(item, 'merchantPaymentReference'),
      'item.merchantPaymentReference',
    ),
    attempts: wholeNumber({ unit: 'attempts' })(fieldOf(item, 'attempts'), 'item.attempts'),
    listedAtMs: toTime(fieldOf(item, 'listedAt')),
  };
}

function toTime(listedAt: unknown): number {
  if (isDateTime(listedAt)) return parseInstant(listedAt as string).occurredAt.getTime();
  const atMs = listedAt instanceof Date ? listedAt.getTime() : Number.NaN;
  if (!Number.isNaN(atMs)) return atMs;
  throw invalidOption('item.listedAt', 'a valid Date or its ISO text', listedAt, REMEDY);
}
