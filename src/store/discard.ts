import { invalidOption } from '../protocol/options.js';
import { ownFields } from '../protocol/own-fields.js';
import type { Attention } from './attention.js';
import type { Tables } from './backend.js';
import { toChangeName } from './change.js';
import { itemChanged } from './errors.js';

/** Takes an item off the list of what needs a person, unless it has changed since it was listed. */
export async function discard(backend: Tables, item: Attention): Promise<void> {
  const isChanged = await forget(backend, item);
  if (isChanged) throw itemChanged();
}

async function forget(backend: Tables, given: Attention): Promise<boolean> {
  const item = ownFields(given);
  switch (item.kind) {
    case 'failed-change':
      return backend.forgetFailed(toChangeName(item, backend.forms), item.attempts);
    case 'second-payment': {
      const { merchantPaymentReference, referenceNumber, payment } = item;
      const key = backend.forms.toName(merchantPaymentReference);
      const seen = JSON.stringify(payment);
      return backend.forgetSecond(
        key,
        backend.forms.toName(referenceNumber),
        (stored) => JSON.stringify(JSON.parse(stored)) === seen,
      );
    }
    case 'no-callback':
      await backend.stopWaiting(backend.forms.toName(item.merchantPaymentReference));
      return false;
    default:
      throw invalidOption(
        'item',
        "an item of attention() of the kind 'second-payment', 'failed-change' or 'no-callback'",
        item.kind === 'unresolved' ? "one of the kind 'unresolved'" : given,
        'an unresolved payment is resolved, by resolve()',
      );
  }
}
