import { parseInstant } from '../protocol/instant.js';
import { givenName, invalidOption, text, wholeNumber } from '../protocol/options.js';
import { isObject } from '../protocol/own-fields.js';
import { isDateTime } from '../protocol/payment.js';
import type { Attention } from './attention.js';
import type { Lists } from './backend.js';
import type { PaymentName } from './change.js';
import type { ListedPayment } from './payment-store.js';

// Items of attention(), as they were listed or as a page has sent them back: perhaps only a part of one. A decision
// about nothing would look like one that was made.

const attemptsOf = ({ attempts }: { readonly attempts: unknown }) =>
  wholeNumber({ unit: 'attempts' })(attempts, 'item.attempts');
const nameOf = (item: object, field: string) =>
  givenName((item as Record<string, unknown>)[field], `item.${field}`);
const paymentOf = (item: object, toName: (text: string) => string): PaymentName => ({
  merchantPaymentReference: toName(nameOf(item, 'merchantPaymentReference')),
  referenceNumber: toName(nameOf(item, 'referenceNumber')),
});

/** @returns whether the item has changed since it was listed, and was kept */
export async function forget(backend: Lists, item: Attention): Promise<boolean> {
  const { toName } = backend.forms;
  switch (item?.kind) {
    case 'failed-change': {
      const name = { ...paymentOf(item, toName), key: toName(nameOf(item, 'key')) };
      return backend.forgetFailed(name, attemptsOf(item));
    }
    case 'second-payment': {
      const name = paymentOf(item, toName);
      if (!isObject(item.payment)) throw invalidOption('item.payment', 'an object', item.payment);
      const seen = JSON.stringify(item.payment);
      const isSame = (stored: string) => JSON.stringify(JSON.parse(stored)) === seen;
      return backend.forgetSecond(name, isSame);
    }
    case 'no-callback': {
      const attempts = attemptsOf(item);
      return backend.stopWaiting(toName(nameOf(item, 'merchantPaymentReference')), attempts);
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
export function readListed(item: ListedPayment) {
  if (!isObject(item) || !['unresolved', 'no-callback', undefined].includes(item.kind)) {
    const expected = "an item of attention() of the kind 'unresolved' or 'no-callback'";
    throw invalidOption('item', expected, item);
  }
  const reference = text(item.merchantPaymentReference, 'item.merchantPaymentReference');
  return {
    merchantPaymentReference: reference,
    attempts: attemptsOf(item),
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
