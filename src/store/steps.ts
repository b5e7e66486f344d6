import { ownFields } from '../protocol/own-fields.js';
import type {
  Claim,
  Decided,
  Decision,
  Finding,
  Intent,
  PaymentRow,
  Result,
  RowState,
} from './payment-row.js';

// The decisions of a store's steps: each function takes the stored and locked payment, and returns the change to make.

/** A row with the fields that only the store sees. */
export interface OwnedRow extends Omit<PaymentRow, 'state'> {
  readonly state: RowState;
  readonly owner: string | undefined;
  /** In epoch milliseconds. */
  readonly leaseUntilMs: number | undefined;
  /** Like that of a {@link Finding}. */
  readonly updatedAtUs: number | undefined;
  /** The service's reference of the payment that has paid the order. */
  readonly paidBy: string | undefined;
}

/** The fields that a step changes, besides the time of the change. */
export type RowChange = Partial<OwnedRow>;

/** Returns undefined unless the payment is `sending` under an expired lease. */
export function expire(
  { state, leaseUntilMs = 0 }: Pick<OwnedRow, 'state' | 'leaseUntilMs'>,
  nowMs: number,
): RowChange | undefined {
  return state === 'sending' && leaseUntilMs <= nowMs ? { state: 'unresolved' } : undefined;
}

/** A granted claim changes the state to `sending`. Returns undefined if nothing changes. */
export function claim(
  row: OwnedRow,
  { intent, owner, allowsRejected, isRepetition, leaseMs }: Omit<Claim, 'key'>,
  nowMs: number,
): RowChange | undefined {
  const { state, digest, attempts } = row;
  // The claim was granted before, and its answer was lost.
  const isOwn = state === 'sending' && row.owner === owner;
  const isOver = (row.leaseUntilMs ?? 0) <= nowMs;
  const isFree = isRepetition
    ? // Two requests of one payment must not be under way at once, which no service recognises for certain.
      state === 'unresolved' && isOver
    : state === 'elsewhere'
      ? intent !== undefined
      : state === 'rejected'
        ? allowsRejected
        : state === 'recorded' && (intent === undefined || intent.digest === digest);
  if (!isFree && !isOwn) return expire(row, nowMs);
  const sending = { state: 'sending', owner, leaseUntilMs: nowMs + leaseMs } as const;
  const began = state === 'elsewhere' ? { recordedAtMs: nowMs } : {};
  return {
    attempts: isOwn ? attempts : attempts + 1,
    sentAtMs: nowMs,
    failure: undefined,
    ...sending,
    ...intent,
    ...began,
  };
}

/** Returns undefined if the stored payment prevents it, and nothing changes. */
export function record(
  { state }: Pick<OwnedRow, 'state'>,
  intent: Intent,
  nowMs: number,
): RowChange | undefined {
  if (state === 'elsewhere') return { state: 'recorded', recordedAtMs: nowMs, ...intent };
  return state === 'rejected' ? { state: 'recorded', ...intent } : undefined;
}

/** The change after any end of an attempt to send. An `unresolved` payment keeps the lease, for {@link resolve}. */
export function end(result: Result): RowChange {
  const { finding, failure } = ownFields(result);
  const isUnheard = finding !== undefined && finding.updatedAtUs === undefined;
  const state: RowState = isUnheard ? 'unheard' : result.state;
  const change = { state, failure, owner: undefined, ...finding };
  return state === 'unresolved' ? change : { leaseUntilMs: undefined, ...change };
}

/** Returns what becomes of a decision, which is about a payment with this many attempts, and its change. */
export function resolve(
  row: OwnedRow,
  decision: Decision,
  attempts: number,
  nowMs: number,
): { readonly decided: Decided; readonly change?: RowChange } {
  const stored = visible(row, nowMs);
  if (stored === undefined) return { decided: { outcome: 'unknown' } };
  const { state } = stored;
  const isOpen = state === 'unresolved' || state === 'sending';
  const leftMs = (row.leaseUntilMs ?? 0) - nowMs;
  if (isOpen && row.attempts === attempts) {
    // The request of the last attempt may still reach the service, where no one could find its payment yet.
    if (decision.state !== 'created' && leftMs > 0) {
      return { decided: { outcome: 'too-early', leftMs } };
    }
    if (state === 'unresolved') return { decided: { outcome: 'resolved' }, change: end(decision) };
  }
  return { decided: { outcome: 'moved-on', stored } };
}

/** The part of a row that decides what a callback makes of it. */
export type Settleable = Pick<OwnedRow, 'state' | 'referenceNumber' | 'updatedAtUs' | 'paidBy'>;

/**
 * What a callback or a late answer makes of an order.
 *
 * - `settled`: the payment was not known to be created, or no callback about it had come.
 * - `known`: it was known already.
 * - `second-payment`: the order has another payment, which was known first or has paid it. This one must be stored in
 *   the list of second payments.
 * - `elsewhere`: the store did not create it.
 */
export interface Settled {
  readonly outcome: 'settled' | 'known' | 'second-payment' | 'elsewhere';
  readonly change: RowChange | undefined;
}

/** What else is known when an order is settled. */
export interface Known {
  /** Whether the finding says that its payment is paid: the first such payment pays the order. */
  readonly isPaid: boolean;
  /** Whether the payment is in the list of second payments. */
  readonly isListed: boolean;
}

export function settle(
  row: Settleable | undefined,
  finding: Finding,
  { isPaid, isListed }: Known,
): Settled {
  const paidBy = row?.paidBy;
  const { referenceNumber } = finding;
  const paid = isPaid && paidBy === undefined ? { paidBy: referenceNumber } : undefined;
  const { outcome, change } = settleOne(row, finding, paid);
  const settled = { outcome, change: change && ownFields(change) };
  // Two paid payments of an order are a mistake, whichever of them the store has created.
  const isSecond = isListed || (isPaid && paidBy !== undefined && paidBy !== referenceNumber);
  return isSecond ? { ...settled, outcome: 'second-payment' } : settled;
}

function settleOne(
  row: Settleable | undefined,
  finding: Finding,
  paid: Pick<RowChange, 'paidBy'> | undefined,
): Settled {
  const { referenceNumber } = finding;
  // Several payments of an order that the store did not create are no mistake.
  if (row === undefined || row.state === 'elsewhere') {
    return { outcome: 'elsewhere', change: { ...paid } };
  }
  const change = { ...paid, ...end({ state: 'created', finding }) };
  if (row.state !== 'created' && row.state !== 'unheard') return { outcome: 'settled', change };
  if (referenceNumber === undefined) return { outcome: 'known', change: undefined };
  if (row.referenceNumber === undefined) return { outcome: 'settled', change };
  if (row.referenceNumber !== referenceNumber) return { outcome: 'second-payment', change: paid };
  const outcome = row.state === 'unheard' ? 'settled' : 'known';
  const isOlder = (finding.updatedAtUs ?? 0) < (row.updatedAtUs ?? 0);
  return { outcome, change: isOlder ? paid : change };
}

/**
 * Removes the fields that only the store sees, and shows an expired lease as `unresolved`. Undefined for a payment that
 * the store did not create.
 */
export function visible(row: OwnedRow, nowMs: number): PaymentRow | undefined {
  const { owner, leaseUntilMs, updatedAtUs, paidBy, state, ...stored } = {
    ...row,
    ...expire(row, nowMs),
  };
  if (state === 'elsewhere') return undefined;
  return { state: state === 'unheard' ? 'created' : state, ...stored };
}

// The result of a single statement is known except for the database's time, which this process's clock replaces.

/** The payment that a claim has stored as new. */
export function added({ body, digest }: Intent): PaymentRow {
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
export function finished(claimed: PaymentRow, result: Result): PaymentRow {
  const changedAtMs = Date.now();
  const { state, failure } = result;
  if (state !== 'created') return { ...claimed, state, failure, changedAtMs };
  const { referenceNumber, payment } = result.finding;
  return { ...claimed, state, failure, changedAtMs, referenceNumber, payment };
}
