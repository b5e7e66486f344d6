import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { matching, wholeNumber } from '../protocol/options.js';
import type { FailedChangeStore, FailurePolicy } from './failed-changes.js';

/** One status change, as an inbox sees it. */
export interface InboxEvent {
  /** The same for every delivery of the change, and of no other change of the payment. */
  key: string;
  /** The payment: the service's `referenceNumber`. */
  paymentReference: string;
  /** When the change happened at the service: its `updatedAt`. */
  occurredAt: Date;
  /**
   * What `updatedAt` says beyond the millisecond of `occurredAt`, in whole microseconds from 0 to
   * 999. Without it two changes within one millisecond have no order.
   * @default 0
   */
  microseconds?: number | undefined;
  /** Whether `work` is to run for a change older than the last one processed too. */
  processStale: boolean;
  /**
   * For an inbox that keeps the changes whose work failed: when to park one, and what to keep. The receiver
   * sets it. Without it failures are kept, and no change is parked.
   */
  failures?: FailurePolicy | undefined;
}

/** What `work` is given. */
export interface InboxContext<Tx> {
  /** The store's transaction, where it has one: what is written through it is committed with the event or not at all. */
  tx: Tx;
  /** Aborts when this process loses its lease or connection, and with it the event. */
  signal: AbortSignal;
  /**
   * Whether a newer change of this payment was processed before. Mirror the status of an order only
   * when this is false; do what must be done once (ship when paid) either way.
   */
  stale: boolean;
}

/**
 * What became of an event.
 *
 * - `processed`: `work` ran and completed.
 * - `duplicate`: `work` completed for this event before.
 * - `stale`: a later change of the payment was processed before.
 * - `busy`: this change, or another of the same payment, is being processed right now.
 */
export type InboxOutcome = 'processed' | 'duplicate' | 'stale' | 'busy';

/**
 * Remembers which changes were processed, so that each is processed once however often it is
 * delivered (interface section 6). `merchant-payments/inbox/contract` tests an implementation.
 *
 * For one event `work` completes at most once; if it throws, or the process dies, the event is free
 * again and a later delivery runs it; two runs for one payment never overlap, as long as the
 * holder of a lease lives. A change older than the last one processed is `stale`: answered so, or run
 * with `stale: true` when the event says `processStale`. The step that claims it decides that.
 *
 * An inbox may also keep the changes whose work failed (`failedChanges`, `discard`), and then heeds
 * `event.failures`. Those in memory, SQLite, Postgres and MySQL do.
 */
export interface CallbackInbox<Tx = undefined> {
  /**
   * Runs `work` unless the event was processed before, is stale, or is being processed.
   *
   * Rejects with what `work` throws, and when the store fails; the event is then not processed. An inbox
   * that keeps failures has stored it by then, and rejects without a run with an `InboxError`
   * `CHANGE_PARKED` for a parked change, and `CHANGE_BLOCKED` for one that it has parked behind another.
   */
  process(
    event: InboxEvent,
    work: (context: InboxContext<Tx>) => Promise<void>,
  ): Promise<InboxOutcome>;
  /** Lists the changes whose work failed, in an inbox that keeps them. */
  failedChanges?: FailedChangeStore['failedChanges'] | undefined;
  /** Forgets the failures of a change, in an inbox that keeps them. */
  discard?: FailedChangeStore['discard'] | undefined;
  /**
   * Whether an inbox that keeps failures keeps the body too, from which a change can be replayed.
   * @default not known
   */
  readonly keepsBodies?: boolean | undefined;
}

/** An inbox that keeps the changes whose work failed, and lists them. */
export type FailureKeepingInbox<Tx = undefined> = CallbackInbox<Tx> & FailedChangeStore;

const name = matching<string>('a string', (value: unknown) => typeof value === 'string');

/**
 * @throws {InvalidOptionError} when `key` or `paymentReference` is not a string: changes without one would all
 * be the same
 */
export function assertNamed({ key, paymentReference }: InboxEvent): void {
  name(key, 'key');
  name(paymentReference, 'paymentReference');
}

const beyondMilliseconds = wholeNumber({ max: 999, unit: 'microseconds' });

/**
 * When the change happened, in microseconds since 1970: what decides which of two is older.
 *
 * @throws {InvalidOptionError} when `occurredAt` is not a valid date or `microseconds` is not from 0 to
 * 999: NaN would never be stale
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
