import { invalidOption } from '../protocol/options.js';
import type { Attention } from './attention.js';
import type { Tables } from './backend.js';
import { toChangeName } from './change.js';
import { itemChanged } from './errors.js';
import { toStoredName } from './stored-name.js';

/** Takes an item off the list of what needs a person, unless it has changed since it was listed. */
export async function discard(backend: Tables, item: Attention): Promise<void> {
  const isChanged = await forget(backend, item);
  if (isChanged) throw itemChanged();
}

async function forget(backend: Tables, item: Attention): Promise<boolean> {
  switch (item?.kind) {
    case 'failed-change':
      return backend.forgetFailed(toChangeName(item), item.attempts);
    case 'second-payment': {
      const { merchantPaymentReference, referenceNumber, payment } = item;
      const key = toStoredName(merchantPaymentReference);
      const seen = JSON.stringify(payment);
      return backend.forgetSecond(
        key,
        toStoredName(referenceNumber),
        (stored) => JSON.stringify(JSON.parse(stored)) === seen,
      );
    }
    case 'no-callback':
      await backend.stopWaiting(toStoredName(item.merchantPaymentReference));
      return false;
    default:
      throw invalidOption(
        'item',
        "an item of attention() of the kind 'second-payment', 'failed-change' or 'no-callback'",
        item?.kind === 'unresolved' ? "one of the kind 'unresolved'" : item,
        'an unresolved payment is resolved, by resolve()',
      );
  }
}
