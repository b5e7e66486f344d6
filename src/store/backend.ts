import type { FailedChange } from './attention.js';
import type { ChangeOutcome, StoreContext } from './callback-store.js';
import type { Change, ChangeName } from './change.js';
import type { PaymentState } from './payment-store.js';

/**
 * The state of a row.
 *
 * - `unheard`: `created`, and no callback about it has come.
 * - `elsewhere`: callbacks name the order, and no payment of it was created through the store.
 */
export type RowState = PaymentState | 'unheard' | 'elsewhere';

/** A payment as stored. */
export interface PaymentRow {
  /** The request body as JSON with ordered keys, so that equal payments have equal texts. */
  readonly body: string;
  /** A digest of `body`. */
  readonly digest: string;
  /** `unresolved` also for a payment that is `sending` under an expired lease. */
  readonly state: PaymentState;
  /** How often it was claimed. */
  readonly attempts: number;
  /** In epoch milliseconds, like the other times. */
  readonly recordedAtMs: number;
  /** When it was last claimed. */
  readonly sentAtMs: number | undefined;
  readonly changedAtMs: number;
  /** The service's identifier of the payment, or a digest of it, like `key`; undefined if unknown. */
  readonly referenceNumber: string | undefined;
  /** JSON of the payment's record. */
  readonly payment: string | undefined;
  /** JSON of a `SendFailure`. */
  readonly failure: string | undefined;
}

/** A payment to store. */
export interface Intent {
  readonly body: string;
  readonly digest: string;
}

/** A request to send a payment. */
export interface Claim {
  readonly key: string;
  /** The payment to store if there is none. Undefined to claim only a stored one. */
  readonly intent: Intent | undefined;
  /** The fencing token, unique to this claim. */
  readonly owner: string;
  /** Whether a `rejected` payment may be claimed: only for callers who ask for that payment, not for recover(). */
  readonly allowsRejected: boolean;
  /** The lease in milliseconds: after it, the owner counts as dead. */
  readonly leaseMs: number;
}

/** The result of a claim. */
export interface Claimed {
  /** Whether this caller alone may send the payment now. */
  readonly granted: boolean;
  /** The payment as stored after the claim; undefined if there is none. */
  readonly stored: PaymentRow | undefined;
}

/** What a callback or an answer says about a payment. */
export interface Finding {
  /** Like that of {@link PaymentRow}. */
  readonly referenceNumber: string | undefined;
  /** JSON of its record. */
  readonly payment: string | undefined;
  /** The record's `updatedAt`, in epoch microseconds; undefined if it has none. */
  readonly updatedAtUs: number | undefined;
}

/** The result of an attempt to send. */
export type Result =
  | { readonly state: 'created'; readonly finding: Finding; readonly failure?: string | undefined }
  | {
      readonly state: 'rejected' | 'recorded' | 'unresolved';
      /** JSON of a `SendFailure`; undefined if nothing was attempted. */
      readonly failure: string | undefined;
      readonly finding?: undefined;
    };

/** What a person, or a look at the service, found out about a payment. `recorded`: it may be sent again. */
export type Decision =
  | Extract<Result, { state: 'created' }>
  | {
      readonly state: 'rejected' | 'recorded';
      readonly failure: undefined;
      readonly finding?: undefined;
    };

/**
 * What became of a decision.
 *
 * - `resolved`: it is stored.
 * - `moved-on`: the payment has another state or other attempts; nothing was changed.
 * - `too-early`: the lease of the last attempt has `leftMs` milliseconds left; nothing was changed.
 * - `unknown`: there is no such payment.
 */
export type Decided =
  | { readonly outcome: 'resolved' }
  | { readonly outcome: 'moved-on'; readonly stored: PaymentRow }
  | { readonly outcome: 'too-early'; readonly leftMs: number }
  | { readonly outcome: 'unknown' };

/** The position after which a page starts: that of the last entry of the previous page. */
export interface Cursor {
  readonly atMs: number;
  readonly names: readonly string[];
}

/** A page of a list. */
export interface Page {
  /** The least age of an entry. 0 lists all, even a time in the future, which a clock that was set back leaves. */
  readonly olderThanMs: number;
  readonly after: Cursor | undefined;
  readonly limit: number;
}

/** An entry of a list of payments. */
export interface Listed {
  readonly place: Cursor;
  readonly key: string;
  readonly stored: PaymentRow;
}

/** A second payment as stored. */
export interface SecondRow {
  readonly place: Cursor;
  /** JSON of its record. */
  readonly payment: string;
}

/** A failed change as stored. */
export interface FailedRow {
  readonly place: Cursor;
  readonly change: FailedChange;
}

/**
 * The operations of a store's tables. Each method is one atomic step, serialized with those of all processes. The
 * store has one clock for all processes.
 *
 * `key` identifies the order: the stored form of the merchant's reference. Its case matters. The original reference is
 * in the body. A `referenceNumber` is converted in the same way.
 *
 * `tx` is the merchant's own transaction, in which the step must run; if it is undefined, the store uses its
 * own. The other methods must never run inside another transaction.
 */
export interface Backend<Tx = unknown> {
  /** The stored form of a reference or key, and the digest of a request's body. */
  readonly forms: StoredForms;
  /** Whether {@link record} requires a `tx`, so that a forgotten one does not store the payment without its order. */
  readonly needsTransaction: boolean;
  /** Runs `work` for a change, settles its payment, and keeps its failure: see `CallbackStore.process`. */
  process(
    change: Change,
    work: (context: StoreContext<Tx>) => Promise<void>,
  ): Promise<ChangeOutcome>;
  /**
   * Claims a payment, so that only one caller sends it.
   *
   * - Nothing is stored, or the order is known only from callbacks: stores the `intent` and grants the claim; without
   *   an `intent`, does nothing.
   * - `recorded`: granted, unless the `intent` has another digest than the stored payment.
   * - `rejected`: granted if `allowsRejected`; an `intent` replaces the stored payment.
   * - `sending` under an expired lease: not granted; becomes `unresolved` and keeps its owner.
   * - Anything else: not granted and not changed.
   *
   * A granted payment is `sending`, has this owner and a new lease, one more attempt, and
   * `sentAt` is now.
   */
  claim(claim: Claim): Promise<Claimed>;
  /**
   * Stores an intent as `recorded` if nothing or a `rejected` payment is stored.
   *
   * @returns the payment that is stored now; may be undefined if it is the intent
   */
  record(key: string, intent: Intent, tx: Tx | undefined): Promise<PaymentRow | undefined>;
  /**
   * Stores the result of an attempt if the payment still has this owner, and clears the owner. The lease remains if
   * the payment is now `unresolved`. A payment loses its owner to {@link process}, {@link resolve} or another claim,
   * but not when its lease expires.
   *
   * @param claimed what the claim returned; since then, others can have changed only its state and times
   * @returns what is stored now; undefined, with nothing changed, if the payment has another owner
   */
  finish(
    key: string,
    owner: string,
    result: Result,
    claimed: PaymentRow | undefined,
  ): Promise<PaymentRow | undefined>;
  /** Stores that the payment exists at the service, as a late answer says. */
  settle(key: string, finding: Finding): Promise<void>;
  /**
   * Carries out a decision about an `unresolved` payment, or one with an expired lease, and clears its owner, if it
   * has this many attempts. Any decision but `created` also requires that the lease of the last attempt has expired.
   */
  resolve(key: string, decision: Decision, attempts: number): Promise<Decided>;
  /** Resolves with what is stored under the key. */
  read(key: string): Promise<PaymentRow | undefined>;
  /**
   * Makes payments that are `sending` under an expired lease `unresolved`; they keep their owner.
   *
   * @returns how many there were
   */
  expire(): Promise<number>;
  /** Lists `recorded` payments, ordered by `changedAt` and key. */
  listRecorded(page: Page): Promise<readonly Listed[]>;
  /**
   * Lists `unresolved` payments and those with an expired lease, ordered by `sentAt` and key.
   *
   * @param isOver whether to list only those whose last attempt can no longer create the payment
   */
  listUnresolved(page: Page, isOver: boolean): Promise<readonly Listed[]>;
  /** Lists `created` payments without a callback, ordered by `changedAt` and key. */
  listUnheard(page: Page): Promise<readonly Listed[]>;
  /** Lists second payments, ordered by when they were found and their names. */
  listSecond(page: Page): Promise<readonly SecondRow[]>;
  /** Lists failed changes, of one payment or all, ordered by their first failure and their names. */
  listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]>;
  /** Stops waiting for the first callback of a `created` payment. */
  stopWaiting(key: string): Promise<void>;
  /**
   * Deletes a second payment if its record is still the same.
   *
   * @returns whether it has changed, and was not deleted
   */
  forgetSecond(
    key: string,
    referenceNumber: string,
    isSame: (payment: string) => boolean,
  ): Promise<boolean>;
  /**
   * Deletes the failure of a change if it has this many attempts.
   *
   * @returns whether it has changed, and was not deleted
   */
  forgetFailed(name: ChangeName, attempts: number): Promise<boolean>;
  setup(): Promise<void>;
  /**
   * Deletes what has ended and last changed before a time.
   *
   * @returns how many rows were deleted
   */
  prune(beforeMs: number): Promise<number>;
}

/** How a store keeps texts that it compares. A store in memory keeps them as they are, and needs no module of Node. */
export interface StoredForms {
  toName(text: string): string;
  toDigest(text: string): string;
}

/** A backend whose transactions are of no interest. */
export type Tables = Omit<Backend<never>, 'process'>;
