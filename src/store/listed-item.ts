import { parseInstant } from '../protocol/instant.js';
import { givenName, invalidOption, text, wholeNumber } from '../protocol/options.js';
import { isObject } from '../protocol/own-fields.js';
import { isDateTime } from '../protocol/payment.js';
import type { Attention } from './attention.js';
import type { Lists } from './backend.js';
import { toChangeName } from './change.js';
import type { ListedPayment } from './payment-store.js';

// Items of attention(), as they were listed or as a page has sent them back: perhaps only a part of one. A decision
// about nothing would look like one that was made.

const attemptsRule = wholeNumber({ unit: 'attempts' });

/** @returns whether the item has changed since it was listed, and was kept */
export async function forget(backend: Lists, item: Attention): Promise<boolean> {
  const { forms } = backend;
  const nameOf = (name: unknown, field: string) => givenName(name, `item.${field}`);
  switch (item?.kind) {
    case 'failed-change': {
      const change = {
        merchantPaymentReference: nameOf(item.merchantPaymentReference, 'merchantPaymentReference'),
        referenceNumber: nameOf(item.referenceNumber, 'referenceNumber'),
        key: nameOf(item.key, 'key'),
      };
      const attempts = attemptsRule(item.attempts, 'item.attempts');
      return backend.forgetFailed(toChangeName(change, forms), attempts);
    }
    case 'second-payment': {
      const reference = nameOf(item.merchantPaymentReference, 'merchantPaymentReference');
      const number = nameOf(item.referenceNumber, 'referenceNumber');
      if (!isObject(item.payment)) throw invalidOption('item.payment', 'an object', item.payment);
      const seen = JSON.stringify(item.payment);
      const isSame = (stored: string) => JSON.stringify(JSON.parse(stored)) === seen;
      return backend.forgetSecond(forms.toName(reference), forms.toName(number), isSame);
    }
    case 'no-callback': {
      const attempts = attemptsRule(item.attempts, 'item.attempts');
      const reference = nameOf(item.merchantPaymentReference, 'merchantPaymentReference');
      return backend.stopWaiting(forms.toName(reference), attempts);
    }
    default:
      throw invalidOption(
        'item',
        "an item of attention() of the kind 'second-payment', 'failed-change' or 'no-callback'",
        item,
        'for an unresolved payment, use markCreated() or markNotCreated()',
      );
  }
}

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
  if (!isObject(item) || !['unresolved', 'no-callback', undefined].includes(item.kind)) {
    const expected = "an item of attention() of the kind 'unresolved' or 'no-callback'";
    throw invalidOption('item', expected, item);
  }
  const reference = text(item.merchantPaymentReference, 'item.merchantPaymentReference');
  return {
    merchantPaymentReference: reference,
    attempts: attemptsRule(item.attempts, 'item.attempts'),
    listedAtMs: toTime(item.listedAt),
  };
}

function toTime(listedAt: unknown): number {
  if (isDateTime(listedAt)) return parseInstant(listedAt as string).occurredAt.getTime();
  const atMs = listedAt instanceof Date ? listedAt.getTime() : Number.NaN;
  if (!Number.isNaN(atMs)) return atMs;
  const remedy = 'pass the item as attention() listed it, or as it came back from JSON';
  throw invalidOption('item.listedAt', 'a valid Date or its ISO text', listedAt, remedy);
}
