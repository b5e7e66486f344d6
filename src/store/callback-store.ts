import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';
import type { Attention, AttentionOptions } from './attention.js';
import type { FailurePolicy } from './failure.js';

/** One status change of a payment: a verified callback is one. */
export interface StatusChange {
  /** The same for every delivery of the change, and different for every other change of the payment. */
  key: string;
  /** The record that the callback carried. Its `updatedAt` orders the changes of a payment. */
  payment: PaymentStatusRecord;
  /** For a store that keeps failed changes. A receiver sets it; without it, no change is parked. */
  failures?: FailurePolicy | undefined;
}

/** What `onPayment` gets besides the callback, and the `work` of a store. */
export interface StoreContext<Tx> {
  /** The store's transaction if it has one, as with `postgresStore`; otherwise `undefined`. */
  tx: Tx;
  /**
   * Aborts when the work can no longer count: the service closed the connection, `onPaymentTimeoutMs` passed,
   * or the store lost its lease or connection. Stop then, by throwing; the service retries.
   */
  signal: AbortSignal;
  /** The order's first `merchantPaymentReference`: by it your tables know the order, whichever attempt this is. */
  order: string;
  /** What this attempt asked for, as sent: a cart may have changed since. Absent if another program created the payment. */
  input?: CreatePaymentInput | undefined;
  /**
   * Whether this status is now the order's: no newer change of the payment was processed before, and it is the payment that
   * has paid the order or, if none has, that of the order's latest attempt. Copy the status to your order only if this is
   * true; ship when `isPaid(payment)` either way, once.
   */
  current: boolean;
  /**
   * Whether another payment has paid the order, or the service has another one for this `merchantPaymentReference`: look
   * both up at the service, and refund one if both are paid. `attention()` lists it.
   */
  secondPayment: boolean;
}

/** What became of a change. */
export interface ChangeResult {
  /**
   * The outcome of processing a change.
   *
   * - `processed`: `work` ran and completed.
   * - `duplicate`: `work` had already completed for this change.
   * - `busy`: another change of the same order is being processed right now.
   * - `parked`: not run, because it is parked after repeated failures.
   * - `failed`: `work` threw, or its transaction was lost. Nothing was recorded, and a later delivery runs it again.
   */
  outcome: 'processed' | 'duplicate' | 'busy' | 'parked' | 'failed';
  /** Why it is `failed`: what `work` threw, or a `StoreError`. */
  error?: unknown;
  /** The number of failures, if this one has parked the change. */
  parkedAfter?: number | undefined;
  /** The store's error, if a store that keeps failures could not keep this one. */
  notKept?: unknown;
}

export type ChangeOutcome = ChangeResult['outcome'];

/**
 * Remembers which changes were processed, so that each is processed once (interface section 6). If `work` throws, or the
 * process dies, a later delivery runs it again. Two runs for one order never overlap, while a lease is renewed.
 */
export interface CallbackStore<Tx = undefined> {
  /**
   * Runs `work` unless the change was processed before, is parked, or has to wait. When `work` throws, the result is
   * `failed` with its error, which a store that keeps failures has kept by then. Rejects when the store fails; the change is
   * then not processed. A store of your own may also reject with what `work` throws.
   */
  process(
    change: StatusChange,
    work: (context: StoreContext<Tx>) => Promise<void>,
  ): Promise<ChangeResult>;
  /**
   * Lists everything that needs a person, the oldest first within each kind. The list is read in pages, so you may
   * decide, replay or discard items meanwhile.
   *
   * @throws {InvalidOptionError} when an option is invalid or unknown
   */
  attention?(options?: AttentionOptions): AsyncIterable<Attention>;
  /**
   * Takes an item off the list: forgets a failed change, whose next delivery runs it again, or a second payment, or
   * stops waiting for a payment's first callback. An unresolved payment can't be discarded: use `markCreated` or
   * `markNotCreated`.
   *
   * @throws {InvalidOptionError} when `item` is no item of `attention()` or is unresolved
   * @throws {StoreError} `STATE_CHANGED` when the item has changed since it was listed; nothing was discarded. An item
   * that is no longer on the list is no error
   */
  discard?(item: Attention): Promise<void>;
  /**
   * Creates missing tables, columns and indexes, at any time and in any number of processes. If nothing is missing, it
   * needs no right to create.
   *
   * @throws {InvalidOptionError} when an option of the client is missing
   * @throws {StoreError} `MISSING_TABLES` when a table has other columns; `STORE_TIMEOUT`, `STORE_FAILED`
   */
  setup?(): Promise<void>;
  /**
   * Deletes what has ended and last changed before `olderThan`: created and rejected payments, and processed changes. A
   * later delivery of a deleted change runs again, and a deleted reference can be created again. So keep them for longer
   * than the service retries, or a customer may return to an order. What `attention()` lists is kept, with its order,
   * except a payment without a callback. The body of a change that last failed before `olderThan` is removed, after which
   * it can't be replayed.
   *
   * @returns how many rows were deleted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   */
  prune?(olderThan: Date): Promise<number>;
}

/** What the stores of this package have that keep failures. */
export type ManagedStore<Tx = undefined> = Required<CallbackStore<Tx>>;
