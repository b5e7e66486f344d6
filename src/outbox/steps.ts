import type { SettleOutcome } from './outbox.js';
import type { Claim, Finding, Intent, Result, StoredPayment } from './store.js';

// What the steps of a store decide, for stores that do so in JavaScript: from what is stored, and locked, to
// what is to be changed.

/** A payment with what a store alone sees of it. */
export interface OwnedPayment extends StoredPayment {
  readonly owner: string | undefined;
  /** In epoch milliseconds. */
  readonly leaseUntilMs: number | undefined;
  /** As that of a {@link Finding}. */
  readonly updatedAtUs: number | undefined;
}

/** What a step changes, besides the time of the change. */
export type Change = Partial<OwnedPayment>;

/** Undefined as long as its lease has not run out. */
export function expire(
  { state, leaseUntilMs = 0 }: OwnedPayment,
  nowMs: number,
): Change | undefined {
  return state === 'sending' && leaseUntilMs <= nowMs ? { state: 'unresolved' } : undefined;
}

/** What is granted is `sending` by it. Undefined when it stays as it is. */
export function claim(
  row: OwnedPayment,
  { intent, owner, allowsRejected, leaseMs }: Omit<Claim, 'key'>,
  nowMs: number,
): Change | undefined {
  const { state, digest, attempts } = row;
  const isFree =
    state === 'rejected'
      ? allowsRejected
      : state === 'recorded' && (intent === undefined || intent.digest === digest);
  if (!isFree) return expire(row, nowMs);
  const sending = { state: 'sending', owner, leaseUntilMs: nowMs + leaseMs } as const;
  return { ...intent, ...sending, attempts: attempts + 1, sentAtMs: nowMs, failure: undefined };
}

/** Undefined when it stands in the way, and stays as it is. */
export function record({ state }: OwnedPayment, intent: Intent): Change | undefined {
  return state === 'rejected' ? { ...intent, state: 'recorded' } : undefined;
}

/** What a payment gets when its sending has ended, in whatever way. */
export function end(result: Result): Change {
  const { state, finding, failure } = result;
  return { ...finding, state, failure, owner: undefined, leaseUntilMs: undefined };
}

/** What a finding is, and what it changes. A `second-payment` is to be kept as one. */
export function settle(
  row: OwnedPayment | undefined,
  finding: Finding,
): { readonly outcome: SettleOutcome; readonly change?: Change } {
  if (row === undefined) return { outcome: 'not-ours' };
  const { referenceNumber } = finding;
  const change = end({ state: 'created', finding });
  if (row.state !== 'created') return { outcome: 'settled', change };
  if (referenceNumber === undefined) return { outcome: 'known' };
  if (row.referenceNumber === undefined) return { outcome: 'settled', change };
  if (row.referenceNumber !== referenceNumber) return { outcome: 'second-payment' };
  return isOlder(finding, row) ? { outcome: 'known' } : { outcome: 'known', change };
}

type Dated = Pick<Finding, 'updatedAtUs'>;

/** Whether a record is older than the one that is known. */
export function isOlder(finding: Dated, known: Dated): boolean {
  return (finding.updatedAtUs ?? 0) < (known.updatedAtUs ?? 0);
}

/** What users may see of it: as `unresolved`, too, where its lease has run out. */
export function visible(row: OwnedPayment, nowMs: number): StoredPayment {
  const { owner, leaseUntilMs, updatedAtUs, ...stored } = { ...row, ...expire(row, nowMs) };
  return stored;
}

// What one statement has stored is known but for the database's time. This process's stands for it.

/** What a claim of a payment that was not stored has stored. */
export function added({ body, digest }: Intent): StoredPayment {
  const atMs = Date.now();
  return {
    body,
    digest,
    state: 'sending',
    attempts: 1,
    recordedAtMs: atMs,
    sentAtMs: atMs,
    changedAtMs: atMs,
    referenceNumber: undefined,
    payment: undefined,
    failure: undefined,
  };
}

/** What is stored when the sending of what was claimed has ended. */
export function finished(claimed: StoredPayment, result: Result): StoredPayment {
  const changedAtMs = Date.now();
  const { state, failure } = result;
  if (state !== 'created') return { ...claimed, state, failure, changedAtMs };
  const { referenceNumber, payment } = result.finding;
  return { ...claimed, state, failure, changedAtMs, referenceNumber, payment };
}
