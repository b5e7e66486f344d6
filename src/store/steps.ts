import { isPaid } from '../protocol/payment.js';
import type {
  Claim,
  Decided,
  Decision,
  DueKind,
  Intent,
  NotCreated,
  PaymentRow,
  Result,
  RowState,
  ServiceRecord,
} from './payment-row.js';
import type { PaymentState } from './stored-payment.js';

// The decisions of a store's steps: each function takes the stored and locked payment, and returns the change to make.

/** A row with the fields that only the store sees. */
export interface OwnedRow extends Omit<PaymentRow, 'state'> {
  readonly state: RowState;
  readonly owner: string | undefined;
  /** In epoch milliseconds. */
  readonly leaseUntilMs: number | undefined;
  /** Like that of a {@link ServiceRecord}. */
  readonly updatedAtUs: number | undefined;
  /** The service's reference of the payment that has paid the order: on its first row, and on that of its attempt. */
  readonly paidBy: string | undefined;
  /** When `lookUp` is asked about it next; undefined for the next pass. */
  readonly lookAtMs: number | undefined;
}

/** What is known of a row that is new, besides its intent. */
export type NewRow = Pick<OwnedRow, 'state' | 'order'> & { readonly nowMs: number };

export function newRow({ body, digest }: Intent, { state, order, nowMs }: NewRow): OwnedRow {
  return {
    body,
    digest,
    state,
    owner: undefined,
    leaseUntilMs: undefined,
    attempts: 0,
    recordedAtMs: nowMs,
    sentAtMs: undefined,
    changedAtMs: nowMs,
    referenceNumber: undefined,
    payment: undefined,
    foundStatus: undefined,
    lookAtMs: undefined,
    updatedAtUs: undefined,
    paidBy: undefined,
    failure: undefined,
    order,
    replacedBy: undefined,
  };
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
  const { state, attempts } = row;
  // The claim was granted before, and its answer was lost.
  const isOwn = state === 'sending' && row.owner === owner;
  const isFree = isRepetition
    ? // Two requests of one payment must not be under way at once, which no service recognises for certain.
      state === 'unresolved' && (row.leaseUntilMs ?? 0) <= nowMs
    : isUnsent(row, intent, allowsRejected);
  if (!isFree && !isOwn) return expire(row, nowMs);
  const sending = { state: 'sending', owner, leaseUntilMs: nowMs + leaseMs } as const;
  const began = state === 'elsewhere' ? { recordedAtMs: nowMs } : {};
  return {
    attempts: isOwn ? attempts : attempts + 1,
    sentAtMs: nowMs,
    failure: undefined,
    lookAtMs: undefined,
    foundStatus: undefined,
    ...sending,
    ...intent,
    ...began,
  };
}

/** Whether no payment exists that a first request for this one would add to. */
function isUnsent(row: OwnedRow, intent: Intent | undefined, allowsRejected: boolean): boolean {
  if (row.replacedBy !== undefined || !mayBeOrder(row, intent)) return false;
  if (row.state === 'elsewhere') return intent !== undefined && !isKnown(row);
  if (row.state === 'rejected') return allowsRejected;
  return row.state === 'recorded' && (intent === undefined || intent.digest === row.digest);
}

/** Whether it is no further attempt: its reference is no order's, and a call for it has no intent. */
export function mayBeOrder(
  { order }: Pick<PaymentRow, 'order'>,
  intent: Intent | undefined,
): boolean {
  return intent === undefined || order === undefined;
}

/** Returns undefined if the stored payment prevents it, and nothing changes. */
export function record(
  row: Pick<OwnedRow, 'state' | 'referenceNumber' | 'replacedBy'>,
  intent: Intent,
  nowMs: number,
): RowChange | undefined {
  if (row.replacedBy !== undefined) return undefined;
  if (row.state === 'rejected') return { state: 'recorded', ...intent };
  const isEmpty = row.state === 'elsewhere' && !isKnown(row);
  return isEmpty ? { state: 'recorded', recordedAtMs: nowMs, ...intent } : undefined;
}

/** Whether callbacks have told of a payment that the store did not create: that is then the order's. */
function isKnown({ referenceNumber }: Pick<OwnedRow, 'referenceNumber'>): boolean {
  return referenceNumber !== undefined;
}

/** The change after any end of an attempt to send. An `unresolved` payment keeps the lease, for {@link decide}. */
export function end(result: Result): RowChange {
  const { serviceRecord, failure } = result;
  const isUnheard = serviceRecord !== undefined && serviceRecord.updatedAtUs === undefined;
  const state: RowState = isUnheard ? 'unheard' : result.state;
  const change = { state, failure, owner: undefined };
  return state === 'unresolved' ? change : { leaseUntilMs: undefined, ...change, ...serviceRecord };
}

/** For a payment of which the service has said nothing, or something false. */
export const NOTHING_SAID = {
  referenceNumber: undefined,
  payment: undefined,
  updatedAtUs: undefined,
} as const;

/** Returns what becomes of a decision, and its change. */
export function decide(
  row: OwnedRow,
  decision: Decision,
  nowMs: number,
): { readonly decided: Decided; readonly change?: RowChange } {
  const stored = visible(row, nowMs);
  if (stored === undefined) return { decided: { outcome: 'unknown' } };
  const isUnresolved = stored.state === 'unresolved';
  const decided = { outcome: 'decided' } as const;
  if (decision.state === 'created') {
    return isUnresolved
      ? { decided, change: end(decision) }
      : { decided: { outcome: 'moved-on', stored } };
  }
  const { state, attempts, listedAtMs, lifetimeMs } = decision;
  // A success may have come from something in front of the service, as a person can find who has seen all that is known.
  const isOpen =
    isUnresolved || (isWaiting(row.state) && state === 'rejected' && toldAtMs(row) <= listedAtMs);
  if (!isOpen || row.attempts !== attempts) return { decided: { outcome: 'moved-on', stored } };
  const finalAtMs = finalAt(row, lifetimeMs);
  // A time in the future is none of a list.
  if (Math.min(listedAtMs, nowMs) < finalAtMs) {
    return { decided: { outcome: 'too-early', leftMs: Math.max(0, finalAtMs - nowMs) } };
  }
  const change = { ...end({ state, failure: undefined }), ...NOTHING_SAID, foundStatus: undefined };
  return { decided, change };
}

/** From when on nobody overlooks a payment that exists: before, the service may still act on the request. */
function finalAt({ leaseUntilMs = 0, sentAtMs = 0 }: OwnedRow, lifetimeMs: number): number {
  return Math.max(leaseUntilMs, sentAtMs + lifetimeMs);
}

/** When an answer, a person, or a look (half-way to the next one) has told of a payment that no callback has told of. */
const toldAtMs = ({ state, changedAtMs, lookAtMs = 0, sentAtMs = 0 }: OwnedRow): number =>
  state === 'missed' ? (lookAtMs + sentAtMs) / 2 : changedAtMs;

/** Whether a payment is created, and its first callback has not come. */
export function isWaiting(state: RowState): boolean {
  return state === 'unheard' || state === 'missed';
}

/** Whether a person may stop waiting for the first callback: `false` if the payment was sent again since. */
export function stopWaiting(
  { state, attempts }: Pick<OwnedRow, 'state' | 'attempts'>,
  seen: number,
): RowChange | undefined | false {
  if (!isWaiting(state)) return undefined;
  return attempts === seen ? { state: 'created' } : false;
}

/** Whether `recover` asks `lookUp` about the payment now. */
export function isDue(row: OwnedRow, kind: DueKind, lifetimeMs: number, nowMs: number): boolean {
  const isOfKind =
    kind === 'waiting'
      ? isWaiting(row.state) && (row.sentAtMs ?? nowMs) + lifetimeMs <= nowMs
      : { ...row, ...expire(row, nowMs) }.state === 'unresolved';
  return isOfKind && (row.lookAtMs ?? nowMs) <= nowMs;
}

/** The change after a look at the service that has decided nothing, once the lifetime of the request is over. */
export function look(
  row: OwnedRow,
  { attempts, status }: Look,
  nowMs: number,
): RowChange | undefined {
  const { sentAtMs = nowMs, changedAtMs } = row;
  const isUnresolved = { ...row, ...expire(row, nowMs) }.state === 'unresolved';
  if (row.attempts !== attempts || !(isUnresolved || isWaiting(row.state))) return undefined;
  // The next look comes when the time since the claim has doubled. None changes the payment's age in a list.
  const change = { lookAtMs: nowMs + (nowMs - sentAtMs), changedAtMs };
  if (isUnresolved || status === undefined) return change;
  const isMissed = status !== statusOf(row);
  return {
    ...change,
    state: isMissed ? 'missed' : 'unheard',
    foundStatus: isMissed ? JSON.stringify(status) : undefined,
  };
}

/** A look at the service, and the status that it has found, if any. */
export type Look = Pick<NotCreated, 'attempts'> & { readonly status: string | undefined };

function statusOf({ payment }: Pick<PaymentRow, 'payment'>): unknown {
  return payment === undefined ? undefined : JSON.parse(payment).status;
}

/** What is stored of a payment's record. */
export type StoredRecord = Pick<ServiceRecord, 'payment' | 'updatedAtUs'>;

/** Whether what is stored is the later record of the same payment. At one instant, `paid` is the later one. */
export function isLater(stored: StoredRecord, { serviceRecord, isPaid: nowPaid }: Notice): boolean {
  if (stored.updatedAtUs === undefined) return false;
  const leftUs = (serviceRecord.updatedAtUs ?? Number.NEGATIVE_INFINITY) - stored.updatedAtUs;
  if (leftUs !== 0) return leftUs < 0;
  return !nowPaid && isPaid({ status: statusOf(stored) as string });
}

/** The part of a row that decides what a callback makes of it. */
export type Settleable = StoredRecord &
  Pick<OwnedRow, 'state' | 'referenceNumber' | 'paidBy'> &
  Partial<Pick<OwnedRow, 'body' | 'order' | 'replacedBy'>>;

/** What a callback or a late answer tells. */
export interface Notice {
  readonly serviceRecord: ServiceRecord;
  /** Whether it says that its payment is paid: the first such payment pays the order. */
  readonly isPaid: boolean;
}

/** What else is known when an order is settled. */
export interface Known {
  /** Whether this change, or a newer one of its payment, was processed before. An answer is older than any change. */
  readonly isOld: boolean;
  /** Whether this very change was: a second payment that is not listed any more was discarded. */
  readonly isProcessed?: boolean;
  /** The payment's record in the list of second payments; undefined if it is not there. */
  readonly second: StoredRecord | undefined;
}

/** What a callback or a late answer makes of an order. */
export interface Settled {
  /** Whether the order has another payment, which was known first or has paid it. */
  readonly isSecond: boolean;
  /** Undefined if it says nothing new. */
  readonly change: RowChange | undefined;
  /** What becomes of the list of second payments; undefined for nothing. */
  readonly list: 'add' | 'update' | undefined;
  /** What the order knows of that payment, if it is later than what the callback tells. */
  readonly later: StoredRecord | undefined;
}

/** The record is what the service said, whatever becomes of the work. */
export function settle(row: Settleable | undefined, notice: Notice, known: Known): Settled {
  const { referenceNumber } = notice.serviceRecord;
  const paidBy = row?.paidBy;
  const pays = notice.isPaid && paidBy === undefined;
  // Each spread last: an object that grows after one is slow, which took a quarter of a callback's time.
  const { record, isAnother } = settleOne(row, notice, { pays, isOld: known.isOld });
  const change = pays ? { paidBy: referenceNumber, ...record } : record;
  // Two paid payments of an order are a mistake, whichever of them the store has created.
  const isOther = notice.isPaid && paidBy !== undefined && paidBy !== referenceNumber;
  const isSecond = isAnother === true || known.second !== undefined || isOther;
  if (!isSecond) return { isSecond, change, list: undefined, later: undefined };
  const isOwn = row !== undefined && row.referenceNumber === referenceNumber;
  const later = isOwn && isLater(row, notice) ? row : undefined;
  return { isSecond, change, list: toList(notice, known), later };
}

function toList(notice: Notice, { second, isOld, isProcessed }: Known): Settled['list'] {
  if (second === undefined) return isProcessed ? undefined : 'add';
  return isOld || isLater(second, notice) ? undefined : 'update';
}

type Context = Pick<Known, 'isOld'> & { readonly pays: boolean };

/** The record to store, with its state, unless what is stored of the order's own payment stays. */
function settleOne(
  row: Settleable | undefined,
  notice: Notice,
  context: Context,
): { readonly record?: RowChange; readonly isAnother?: boolean } {
  const { serviceRecord } = notice;
  if (row === undefined || row.state === 'elsewhere') {
    const stays = row !== undefined && staysElsewhere(row, notice, context);
    return stays ? {} : { record: serviceRecord };
  }
  const record = end({ state: 'created', serviceRecord });
  if (row.state !== 'created' && !isWaiting(row.state)) return { record };
  if (serviceRecord.referenceNumber === undefined) return {};
  if (row.referenceNumber === undefined) return { record };
  if (row.referenceNumber !== serviceRecord.referenceNumber) return { isAnother: true };
  // A late answer is no callback, and does not undo what a look has found.
  if (isWaiting(row.state)) {
    return { record: record.state === 'unheard' ? { ...record, state: row.state } : record };
  }
  return context.isOld || isLater(row, notice) ? {} : { record };
}

/** Whether an order that the store did not create keeps its payment: the latest counts until one has paid the order. */
function staysElsewhere(row: Settleable, notice: Notice, { isOld, pays }: Context): boolean {
  if (!isKnown(row)) return false;
  if (row.referenceNumber === notice.serviceRecord.referenceNumber)
    return isOld || isLater(row, notice);
  return !pays && (isOld || row.paidBy !== undefined);
}

/** What others see of a row; undefined if the order has no payment. One that is known from callbacks alone is `created`. */
export function visible(row: OwnedRow, nowMs: number): PaymentRow | undefined {
  const { owner, leaseUntilMs, updatedAtUs, paidBy, lookAtMs, state, ...stored } = {
    ...row,
    ...expire(row, nowMs),
  };
  if (state === 'elsewhere') return isKnown(row) ? { state: 'created', ...stored } : undefined;
  return { state: isWaiting(state) ? 'created' : (state as PaymentState), ...stored };
}
