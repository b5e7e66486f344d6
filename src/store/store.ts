import type { OutboxState, SettleOutcome } from './outbox.js';

/** A payment as stored. */
export interface StoredPayment {
  /** The request body as JSON with ordered keys, so that equal payments have equal texts. */
  readonly body: string;
  /** A digest of `body`. */
  readonly digest: string;
  /** `unresolved` also for a payment that is `sending` under an expired lease. */
  readonly state: OutboxState;
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
  /** JSON of an `OutboxFailure`. */
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
  readonly stored: StoredPayment | undefined;
}

/** What a callback or an answer says about a payment. */
export interface Finding {
  /** Like that of {@link StoredPayment}. */
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
      /** JSON of an `OutboxFailure`; undefined if nothing was attempted. */
      readonly failure: string | undefined;
      readonly finding?: undefined;
    };

/** What a person found out about a payment. */
export type Decision =
  | Extract<Result, { state: 'created' }>
  | { readonly state: 'rejected'; readonly failure: undefined; readonly finding?: undefined };

/**
 * What became of a person's decision.
 *
 * - `resolved`: it is stored.
 * - `moved-on`: the payment has another state or other attempts; nothing was changed.
 * - `too-early`: the lease of the last attempt has `leftMs` milliseconds left; nothing was changed.
 */
export type Decided =
  | { readonly outcome: 'resolved' }
  | { readonly outcome: 'moved-on'; readonly stored: StoredPayment }
  | { readonly outcome: 'too-early'; readonly leftMs: number };

/** The position after which a page starts: that of the last entry of the previous page. */
export interface Cursor {
  readonly atMs: number;
  readonly key: string;
}

/** A page of a list. */
export interface Page {
  /** The least age of an entry. 0 lists all, even a time in the future, which a clock that was set back leaves. */
  readonly olderThanMs: number;
  readonly after: Cursor | undefined;
  readonly limit: number;
}

/** An entry of a list. */
export interface Listed {
  readonly key: string;
  readonly stored: StoredPayment;
}

/** A second payment as stored. */
export interface StoredSecondPayment {
  /** The key of the first payment. */
  readonly key: string;
  /** The request body of the first payment, as JSON. */
  readonly body: string;
  /** Like that of {@link StoredPayment}. */
  readonly referenceNumber: string;
  /** JSON of its record. */
  readonly payment: string;
  readonly foundAtMs: number;
}

/** A page of the list of second payments. */
export interface SecondPaymentsPage {
  readonly after: StoredSecondPayment | undefined;
  readonly limit: number;
}

/**
 * The database operations of an outbox. Each method is one atomic step, serialized with those of all processes.
 * The store has one clock for all processes.
 *
 * `key` identifies the payment: the merchant's reference, or a digest of it if a store might not handle the
 * reference. It has at most 128 printable ASCII characters, and its case matters. The
 * original reference is in the body. A `referenceNumber` is converted in the same way.
 *
 * `tx` is the merchant's own transaction, in which the step must run; if it is undefined, the store uses its
 * own. The other methods must never run inside another transaction.
 */
export interface OutboxStore<Tx = unknown> {
  /** Whether {@link record} requires a `tx`, so that a forgotten one does not store the payment without its order. */
  readonly needsTransaction: boolean;
  /**
   * Claims a payment, so that only one caller sends it.
   *
   * - Nothing is stored: stores the `intent` and grants the claim; without an `intent`, does nothing.
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
  record(key: string, intent: Intent, tx: Tx | undefined): Promise<StoredPayment | undefined>;
  /**
   * Stores the result of an attempt if the payment still has this owner, and clears the owner. The lease remains if
   * the payment is now `unresolved`. A payment loses its owner to {@link settle}, {@link resolve} or another claim,
   * but not when its lease expires.
   *
   * @param claimed what the claim returned; since then, others can have changed only its state and times
   * @returns what is stored now; undefined, with nothing changed, if the payment has another owner
   */
  finish(
    key: string,
    owner: string,
    result: Result,
    claimed: StoredPayment | undefined,
  ): Promise<StoredPayment | undefined>;
  /**
   * Stores that the payment exists at the service.
   *
   * - Nothing is stored under the key: `not-ours`.
   * - Stored, but not `created` or without a `referenceNumber`: `settled`. It becomes `created` with the finding,
   *   and loses its owner. If it is `created` and the finding has no `referenceNumber`: `known`, nothing changes.
   * - The same `referenceNumber`: `known`. The finding replaces the record unless it is older;
   *   a record without a time is older than any other.
   * - Another `referenceNumber`: `second-payment`. It is stored in another list, with one entry per key
   *   and `referenceNumber`, which keeps the newest record.
   */
  settle(key: string, finding: Finding, tx: Tx | undefined): Promise<SettleOutcome>;
  /**
   * Makes an `unresolved` payment, or one with an expired lease, `created` or `rejected`, and clears its owner, if it
   * has this many attempts. `rejected` also requires that the lease of the last attempt has expired.
   *
   * @returns undefined if nothing is stored
   */
  resolve(key: string, decision: Decision, attempts: number): Promise<Decided | undefined>;
  /** Resolves with what is stored under the key. */
  read(key: string): Promise<StoredPayment | undefined>;
  /**
   * Makes payments that are `sending` under an expired lease `unresolved`; they keep their owner.
   *
   * @returns how many there were
   */
  expire(): Promise<number>;
  /** Lists `recorded` payments, ordered by `changedAt` and key. */
  listRecorded(page: Page): Promise<readonly Listed[]>;
  /** Lists `unresolved` payments and those with an expired lease, ordered by `sentAt` and key. */
  listUnresolved(page: Page): Promise<readonly Listed[]>;
  /** Lists second payments, ordered by `foundAt`, key and `referenceNumber`. */
  listSecondPayments(page: SecondPaymentsPage): Promise<readonly StoredSecondPayment[]>;
  /**
   * Deletes payments that are `created` or `rejected` and last changed before a time, and second payments
   * found before it.
   *
   * @returns how many payments were deleted, second payments not counted
   */
  prune(olderThan: Date): Promise<number>;
}
