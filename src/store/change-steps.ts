import type { ChangeResult } from './callback-store.js';
import type { Change } from './change.js';
import { describeFailure, isFailure } from './failure.js';
import * as steps from './steps.js';

// The decisions about a change, from what the store holds while the order is locked or claimed.

/** What is stored about a change and its order. */
export interface SeenChange extends Pick<steps.Known, 'second'> {
  /** The row of its reference, with `paidBy` of the order; undefined if there is none. */
  readonly row: steps.Settleable | undefined;
  readonly isProcessed: boolean;
  /** The rank of the newest processed change of the payment. */
  readonly newest: string | undefined;
  /** The change's own failure. */
  readonly failure: { readonly attempts: number; readonly parked: boolean } | undefined;
}

export interface ChangeDecision {
  readonly action: 'run' | 'duplicate' | 'parked';
  /** The order's first reference. */
  readonly order: string;
  /** The body of the payment's creation; undefined if another program created it. */
  readonly body: string | undefined;
  readonly current: boolean;
  readonly secondPayment: boolean;
  /** What its callback makes of the order. */
  readonly settled: steps.Settled;
  /** The same once it is processed. */
  readonly newest: string;
  readonly failure: SeenChange['failure'];
}

export function decideChange(seen: SeenChange, change: Change): ChangeDecision {
  const { row, second, failure, isProcessed, newest = change.rank } = seen;
  const isOlder = newest !== change.rank && BigInt(newest) > BigInt(change.rank);
  const settled = steps.settle(row, change, { isOld: isProcessed || isOlder, isProcessed, second });
  const isLatest = !isOlder && !isBesidePaid(seen, change);
  // Until an attempt has paid the order, the latest one tells its status.
  const isOrders =
    row?.paidBy === undefined
      ? change.isPaid || row?.replacedBy === undefined
      : row.paidBy === change.referenceNumber;
  return {
    action: toAction(seen, change),
    order: row?.order === undefined ? change.full.merchantPaymentReference : JSON.parse(row.order),
    body: row?.body || undefined,
    current: isLatest && isOrders,
    secondPayment: settled.isSecond,
    settled,
    newest: isOlder ? newest : change.rank,
    failure,
  };
}

/** Whether what is stored of the payment is `paid` at the same instant, which is then the later status. */
function isBesidePaid({ row, second }: SeenChange, change: Change): boolean {
  const isOfRow = row?.referenceNumber === change.referenceNumber;
  return [isOfRow ? row : undefined, second].some(
    (stored) =>
      stored !== undefined &&
      stored.updatedAtUs === change.serviceRecord.updatedAtUs &&
      steps.isLater(stored, change),
  );
}

/** Whether the order has, or is paid by, another payment than the change's. */
export function isOfAnother(
  row: SeenChange['row'],
  { referenceNumber }: Pick<Change, 'referenceNumber'>,
): boolean {
  // Of an order that the store did not create, the latest payment counts until one has paid it.
  const first = row?.state === 'elsewhere' ? undefined : row?.referenceNumber;
  return [first, row?.paidBy].some((known) => known !== undefined && known !== referenceNumber);
}

/** Whether the store learns something of the payment, which it keeps whatever becomes of the work. */
export function saysSomethingNew({
  settled: { change, list },
}: Pick<ChangeDecision, 'settled'>): boolean {
  return change !== undefined || list !== undefined;
}

function toAction(
  { isProcessed, failure }: SeenChange,
  { policy }: Change,
): ChangeDecision['action'] {
  if (isProcessed) return 'duplicate';
  return failure?.parked && !policy.runParked ? 'parked' : 'run';
}

export interface KeptFailure {
  readonly attempts: number;
  readonly parked: boolean;
  /** The number of failures, if this one has parked the change. */
  readonly parkedAfter: number | undefined;
  /** The description of the error, as JSON. */
  readonly error: string;
  /** Undefined if the policy has none. */
  readonly rawBody: Uint8Array | undefined;
}

/** The failure to store after the work has thrown; undefined for none. */
export function failureOf(
  { policy }: Change,
  { failure }: Pick<ChangeDecision, 'failure'>,
  error: unknown,
): KeptFailure | undefined {
  if (!isFailure(error)) return undefined;
  const attempts = (failure?.attempts ?? 0) + 1;
  const isEnough = attempts >= (policy.parkAfter ?? Number.POSITIVE_INFINITY);
  return {
    attempts,
    parked: isEnough || failure?.parked === true,
    parkedAfter: isEnough && failure?.parked !== true ? attempts : undefined,
    error: JSON.stringify(policy.describeError?.(error) ?? describeFailure(error)),
    rawBody: policy.getRawBody?.(),
  };
}

/** What became of a change whose work has failed. */
export function toFailed(error: unknown, kept: KeptFailure | undefined): ChangeResult {
  return { outcome: 'failed', error, parkedAfter: kept?.parkedAfter };
}
