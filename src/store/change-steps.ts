import { StoreError } from '../errors.js';
import type { Change } from './change.js';
import { describeFailure, isFailure } from './failure.js';
import * as steps from './steps.js';

// The decisions about a change, from what the store holds while the order is locked or claimed.

/** What is stored about a change and its order. */
export interface SeenChange {
  /** The order's row; undefined if there is none. */
  readonly row: steps.Settleable | undefined;
  readonly isProcessed: boolean;
  /** When the newest processed change of the payment happened, in epoch microseconds as digits. */
  readonly watermarkUs: string | undefined;
  /** The change's own failure. */
  readonly failure: { readonly attempts: number; readonly parked: boolean } | undefined;
  /** The time of its record in the list of second payments; undefined if it is not on that list. */
  readonly secondUpdatedAtUs: number | undefined;
}

/** What happens to a change. */
export interface Judged {
  readonly verdict: 'run' | 'duplicate' | 'parked';
  readonly current: boolean;
  readonly secondPayment: boolean;
  /** What its callback makes of the order. */
  readonly settled: steps.Settled;
  /** The watermark once it is processed. */
  readonly watermarkUs: string;
  readonly failure: SeenChange['failure'];
  readonly secondUpdatedAtUs: SeenChange['secondUpdatedAtUs'];
}

export function judge(seen: SeenChange, change: Change): Judged {
  const { watermarkUs = change.occurredAtUs, failure } = seen;
  const isOlder = BigInt(watermarkUs) > BigInt(change.occurredAtUs);
  const settled = steps.settle(seen.row, change.finding, {
    isPaid: change.isPaid,
    isListed: seen.secondUpdatedAtUs !== undefined,
  });
  const paidBy = settled.change?.paidBy ?? seen.row?.paidBy;
  return {
    verdict: toVerdict(seen, change),
    current: !isOlder && (paidBy === undefined || paidBy === change.referenceNumber),
    secondPayment: settled.outcome === 'second-payment',
    settled,
    watermarkUs: isOlder ? watermarkUs : change.occurredAtUs,
    failure,
    secondUpdatedAtUs: seen.secondUpdatedAtUs,
  };
}

/** Whether the order has, or is paid by, another payment than the change's. */
export function isOfAnother(
  row: SeenChange['row'],
  { referenceNumber }: Pick<Change, 'referenceNumber'>,
): boolean {
  return [row?.referenceNumber, row?.paidBy].some(
    (known) => known !== undefined && known !== referenceNumber,
  );
}

/** Whether the store learns something from the change even if its work does not complete. */
export function isNews({ settled: { outcome, change } }: Pick<Judged, 'settled'>): boolean {
  return outcome === 'settled' || outcome === 'second-payment' || change?.paidBy !== undefined;
}

function toVerdict({ isProcessed, failure }: SeenChange, { policy }: Change): Judged['verdict'] {
  if (isProcessed) return 'duplicate';
  return failure?.parked && !policy.runParked ? 'parked' : 'run';
}

/** A failure to store. */
export interface KeptFailure {
  readonly attempts: number;
  readonly parked: boolean;
  /** Whether this failure has parked it. */
  readonly isNewlyParked: boolean;
  /** The description of the error, as JSON. */
  readonly error: string;
  /** Undefined if the policy has none. */
  readonly rawBody: Uint8Array | undefined;
}

/** The failure to store after the work has thrown; undefined for none. */
export function failureOf(
  { policy }: Change,
  { failure }: Pick<Judged, 'failure'>,
  error: unknown,
): KeptFailure | undefined {
  if (!isFailure(error)) return undefined;
  const attempts = (failure?.attempts ?? 0) + 1;
  const isEnough = attempts >= (policy.parkAfter ?? Number.POSITIVE_INFINITY);
  const rawBody = tryTo(() => policy.getRawBody?.());
  const described = tryTo(() => policy.describeError?.(error) ?? describeFailure(error));
  return {
    attempts,
    parked: isEnough || failure?.parked === true,
    isNewlyParked: isEnough && failure?.parked !== true,
    // Not described in another way: the policy removes secrets.
    error: JSON.stringify(described ?? { name: 'Error', message: '' }),
    rawBody,
  };
}

/** Undefined if it throws: a failure of the policy must not hide that of the work. */
function tryTo<Value>(read: () => Value): Value | undefined {
  try {
    return read();
  } catch {
    return undefined;
  }
}

/** The error for a parked change, which is not run. */
export function parkedError(): StoreError {
  return new StoreError(
    'CHANGE_PARKED',
    'The change was not run: it is parked after repeated failures; replay it when its cause is fixed, or discard it',
  );
}
