import type { Finding } from './backend.js';
import type { StatusChange } from './callback-store.js';
import type { FailurePolicy } from './failure.js';
import { toFinding } from './records.js';
import { type ReadChange, readStatusChange } from './status-change.js';
import { toStoredName } from './stored-name.js';

/** Identifies a change, by names that every store can handle. */
export type ChangeName = Pick<ReadChange, 'merchantPaymentReference' | 'referenceNumber' | 'key'>;

/** A change as a store handles it. */
export interface Change extends ReadChange {
  /** What the change says about its payment. */
  readonly finding: Finding;
  readonly policy: FailurePolicy;
  /** The names in full, as JSON: the merchant's reference, the service's, the key. */
  readonly fullNames: string;
}

/** @throws {InvalidOptionError} like {@link readStatusChange} */
export function readChange(change: StatusChange): Change {
  const read = readStatusChange(change);
  const { merchantPaymentReference, referenceNumber, key } = read;
  return {
    ...read,
    ...toChangeName(read),
    finding: toFinding({ ...change.payment }),
    policy: change.failures ?? {},
    fullNames: JSON.stringify([merchantPaymentReference, referenceNumber, key]),
  };
}

export function toChangeName(full: ChangeName): ChangeName {
  return {
    merchantPaymentReference: toStoredName(full.merchantPaymentReference),
    referenceNumber: toStoredName(full.referenceNumber),
    key: toStoredName(full.key),
  };
}
