import type { SettleOutcome } from './outbox.js';
import type { Claim, Decided, Decision, Finding, Intent, Result, StoredPayment } from './store.js';

// The decisions of a store's steps, for stores that decide in JavaScript: each function takes the stored and locked
// payment, and returns the change to make.

/** A payment with the fields that only the store sees. */
export interface OwnedPayment extends StoredPayment {
  readonly owner: string | undefined;
  /** In epoch milliseconds. */
  readonly leaseUntilMs: number | undefined;
  /** Like that of a {@link Finding}. */
  readonly updatedAtUs: number | undefined;
}

/** The fields that a step changes, besides the time of the change. */
export type Change = Partial<OwnedPayment>;

/** Returns undefined unless the payment is `sending` under an expired lease. */
export function expire(
  { state, leaseUntilMs = 0 }: OwnedPayment,
  nowMs: number,
): Change | undefined {
  return state === 'sending' && leaseUntilMs <= nowMs ? { state: 'unresolved' } : undefined;
}

/** A granted claim changes the state to `sending`. Returns undefined if nothing changes. */
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

/** Returns undefined if the stored payment prevents it, and nothing changes. */
export function record({ state }: OwnedPayment, intent: Intent): Change | undefined {
  return state === 'rejected' ? { ...intent, state: 'recorded' } : undefined;
}

/** The change after any end of an attempt to send. An `unresolved` payment keeps the lease, for {@link resolve}. */
export function end(result: Result): Change {
  const { state, finding, failure } = result;
  const change = { ...finding, state, failure, owner: undefined };
  return state === 'unresolved' ? change : { ...change, leaseUntilMs: undefined };
}

/** Returns what becomes of a person's decision, which is about a payment with this many attempts, and its change. */
export function resolve(
  row: OwnedPayment,
  decision: Decision,
  attempts: number,
  nowMs: number,
): { readonly decided: Decided; readonly change?: Change } {
  const stored = visible(row, nowMs);
  const { state } = stored;
  const isOpen = state === 'unresolved' || state === 'sending';
  const leftMs = (row.leaseUntilMs ?? 0) - nowMs;
  if (isOpen && row.attempts === attempts) {
    // The request of the last attempt may still reach the service, where a person could not find its payment yet.
    if (decision.state === 'rejected' && leftMs > 0) {
      return { decided: { outcome: 'too-early', leftMs } };
    }
    if (state === 'unresolved') return { decided: { outcome: 'resolved' }, change: end(decision) };
  }
  return { decided: { outcome: 'moved-on', stored } };
}

/** Returns the outcome of a finding and its change. The caller must store a `second-payment`. */
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

/** Whether a record is older than the stored one. */
export function isOlder(finding: Dated, known: Dated): boolean {
  return (finding.updatedAtUs ?? 0) < (known.updatedAtUs ?? 0);
}

/** Removes the fields that only the store sees, and shows an expired lease as `unresolved`. */
export function visible(row: OwnedPayment, nowMs: number): StoredPayment {
  const { owner, leaseUntilMs, updatedAtUs, ...stored } = { ...row, ...expire(row, nowMs) };
  return stored;
}

// The result of a single statement is known except for the database's time, which this process's clock replaces.

/** The payment that a claim has stored as new. */
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

/** The stored payment after the end of an attempt to send. */
export function finished(claimed: StoredPayment, result: Result): StoredPayment {
  const changedAtMs = Date.now();
  const { state, failure } = result;
  if (state !== 'created') return { ...claimed, state, failure, changedAtMs };
  const { referenceNumber, payment } = result.finding;
  return { ...claimed, state, failure, changedAtMs, referenceNumber, payment };
}
