import { ownFields, readOnce } from '../protocol/own-fields.js';
import type { StatusChange } from './callback-store.js';
import type { FailurePolicy } from './failure.js';
import type { Finding, StoredForms } from './payment-row.js';
import { toFinding } from './records.js';
import { type ReadChange, readStatusChange } from './status-change.js';

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
export function readChange(change: StatusChange, forms: StoredForms): Change {
  const read = readStatusChange(change);
  const { merchantPaymentReference, referenceNumber, key } = read;
  return {
    ...read,
    ...toChangeName(read, forms),
    finding: toFinding({ ...change.payment }, forms),
    policy: readPolicy(ownFields(change).failures ?? {}),
    fullNames: JSON.stringify([merchantPaymentReference, referenceNumber, key]),
  };
}

const POLICY = [
  ...['parkAfter', 'blockParked', 'runParked'],
  ...['getRawBody', 'describeError', 'onParked', 'onNotKept'],
];

// Its functions may be methods of a class of the caller's.
function readPolicy(policy: FailurePolicy): FailurePolicy {
  const read = Object.entries(readOnce(policy, POLICY));
  const bound = read.map(([name, field]) => [
    name,
    typeof field === 'function' ? field.bind(policy) : field,
  ]);
  return ownFields(Object.fromEntries(bound));
}

export function toChangeName(full: ChangeName, { toName }: StoredForms): ChangeName {
  return {
    merchantPaymentReference: toName(full.merchantPaymentReference),
    referenceNumber: toName(full.referenceNumber),
    key: toName(full.key),
  };
}
