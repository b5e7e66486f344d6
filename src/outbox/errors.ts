import { OutboxError } from '../errors.js';
import type { OutboxState } from './outbox.js';

/** A reference in a message: the merchant's own order number, cut where it is long. */
function quote(reference: string): string {
  const shown = reference.replaceAll(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ');
  return JSON.stringify(shown.length > 80 ? `${shown.slice(0, 80)}…` : shown);
}

export function referenceConflict(reference: string): OutboxError {
  return new OutboxError(
    'REFERENCE_CONFLICT',
    `Another payment is stored under merchantPaymentReference ${quote(reference)}: its amount, currency or extraBody differ. Nothing was sent. Use one reference for each payment; what was rejected may be corrected`,
  );
}

export function unknownReference(reference: string): OutboxError {
  return new OutboxError(
    'UNKNOWN_REFERENCE',
    `The outbox has no payment with merchantPaymentReference ${quote(reference)}. Record it first, and commit the transaction before you send it; it may have been pruned`,
  );
}

export function notUnresolved(reference: string, state: OutboxState): OutboxError {
  return new OutboxError(
    'OUTBOX_STATE',
    `The payment with merchantPaymentReference ${quote(reference)} is '${state}', and only an 'unresolved' one can be resolved. Nothing was changed; look at what outbox.get() says of it now`,
  );
}

export function notSentInTime(reference: string): OutboxError {
  return new OutboxError(
    'OUTBOX_TIMEOUT',
    `The payment with merchantPaymentReference ${quote(reference)} was not sent: the store, or this process, took longer than the lease. It stays recorded. Find what blocks the process, or raise leaseMs`,
  );
}

export function outcomeNotStored(reference: string, what: string, cause: unknown): OutboxError {
  return new OutboxError(
    'STORE_FAILED',
    `The payment with merchantPaymentReference ${quote(reference)} was sent (${what}), but that could not be stored. It becomes 'unresolved' when its lease runs out, and its callback settles it: do not create it under another reference`,
    { cause },
  );
}
