import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { matching, wholeNumber } from '../protocol/options.js';
import type { FailedChangeStore, FailurePolicy } from './failed-changes.js';

/** One status change, as an inbox sees it. */
export interface InboxEvent {
  /** Identifies the change: the same for each of its deliveries, different for every other change of the payment. */
  key: string;
  /** Identifies the payment: the service's `referenceNumber`. */
  paymentReference: string;
  /** When the change happened at the service: its `updatedAt`. */
  occurredAt: Date;
  /**
   * The part of `updatedAt` below the millisecond of `occurredAt`, in whole microseconds from 0 to
   * 999. Without it, two changes within one millisecond have no order.
   * @default 0
   */
  microseconds?: number | undefined;
  /** Whether `work` also runs for a change older than the last one processed. */
  processStale: boolean;
  /**
   * For an inbox that keeps failed changes: when to park one, and what to keep. The receiver
   * sets it. Without it, failures are kept but no change is parked.
   */
  failures?: FailurePolicy | undefined;
}

/** The argument of `work`. */
export interface InboxContext<Tx> {
  /** The store's transaction, if it has one: writes made through it commit together with the event, or not at all. */
  tx: Tx;
  /** Aborts when this process loses its claim on the event, because its lease or its connection is lost. */
  signal: AbortSignal;
  /**
   * Whether a newer change of this payment has already been processed. Copy the status to your order only
   * when this is false; do what must be done once (ship when paid) either way.
   */
  stale: boolean;
}

/**
 * The outcome of processing an event.
 *
 * - `processed`: `work` ran and completed.
 * - `duplicate`: `work` had already completed for this event.
 * - `stale`: a newer change of the payment had already been processed.
 * - `busy`: this change, or another one of the same payment, is being processed right now.
 */
export type InboxOutcome = 'processed' | 'duplicate' | 'stale' | 'busy';

/**
 * Remembers which changes were processed, so that each is processed once, however often it is
 * delivered (interface section 6).
 *
 * `work` completes at most once per event. If it throws, or the process dies, the claim is released and
 * a later delivery runs `work` again. Two runs for one payment never overlap, as long as the
 * holder of a lease keeps renewing it. A change older than the last one processed is `stale`: the inbox
 * returns `stale`, or runs `work` with `stale: true` if the event sets `processStale`. The claim decides
 * this atomically.
 *
 * An inbox may also keep the changes whose work failed (`failedChanges`, `discard`); it then follows
 * `event.failures`. The inboxes in memory, SQLite, Postgres and MySQL do so.
 */
export interface CallbackInbox<Tx = undefined> {
  /**
   * Runs `work` unless the event was processed before, is stale, or is being processed.
   *
   * Rejects with the error that `work` throws, and when the store fails; the event is then not processed. An inbox
   * that keeps failures stores the failure before it rejects. It rejects without running `work`, with an
   * `StoreError`, for a parked change (`CHANGE_PARKED`), and for a change that it has just parked behind
   * another one (`CHANGE_BLOCKED`).
   */
  process(
    event: InboxEvent,
    work: (context: InboxContext<Tx>) => Promise<void>,
  ): Promise<InboxOutcome>;
  /** Lists the changes whose work failed, if the inbox keeps them. */
  failedChanges?: FailedChangeStore['failedChanges'] | undefined;
  /** Forgets the failures of a change, if the inbox keeps them. */
  discard?: FailedChangeStore['discard'] | undefined;
  /**
   * Whether an inbox that keeps failures also keeps bodies, which a replay needs.
   * @default unknown
   */
  readonly keepsBodies?: boolean | undefined;
}

/** An inbox that keeps the changes whose work failed, and lists them. */
export type FailureKeepingInbox<Tx = undefined> = CallbackInbox<Tx> & FailedChangeStore;

const name = matching<string>('a string', (value: unknown) => typeof value === 'string');

/**
 * @throws {InvalidOptionError} when `key` or `paymentReference` is not a string: without one, different changes
 * would look the same
 */
export function assertNamed({ key, paymentReference }: InboxEvent): void {
  name(key, 'key');
  name(paymentReference, 'paymentReference');
}

const beyondMilliseconds = wholeNumber({ max: 999, unit: 'microseconds' });

/**
 * When the change happened, in microseconds since 1970. This decides which of two changes is older.
 *
 * @throws {InvalidOptionError} when `occurredAt` is not a valid date, as NaN would never be stale, or
 * `microseconds` is not from 0 to 999
 */
export function toEpochMicroseconds({ occurredAt, microseconds = 0 }: InboxEvent): number {
  beyondMilliseconds(microseconds, 'microseconds');
  const epochMs = Number(occurredAt);
  if (Number.isNaN(epochMs)) {
    throw new InvalidOptionError(
      'occurredAt',
      `occurredAt must be a valid Date; received ${describeValue(occurredAt)} that is not one`,
    );
  }
  return epochMs * 1000 + microseconds;
}
