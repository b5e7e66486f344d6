import type { OutboxState, SettleOutcome } from './outbox.js';

/** A payment as a store keeps it. */
export interface StoredPayment {
  /** JSON of what is sent, its keys in order: the same text for the same payment. */
  readonly body: string;
  /** A digest of `body`. */
  readonly digest: string;
  /** `unresolved` too where it is `sending` under a lease that has run out. */
  readonly state: OutboxState;
  /** How often it was claimed. */
  readonly attempts: number;
  /** In epoch milliseconds, as the other times. */
  readonly recordedAtMs: number;
  /** When it was last claimed. */
  readonly sentAtMs: number | undefined;
  readonly changedAtMs: number;
  /** The service's identifier of the payment, where it is known; as `key`, or a digest of it. */
  readonly referenceNumber: string | undefined;
  /** JSON of the payment's record. */
  readonly payment: string | undefined;
  /** JSON of an `OutboxFailure`. */
  readonly failure: string | undefined;
}

/** A payment that is to be stored. */
export interface Intent {
  readonly body: string;
  readonly digest: string;
}

/** A payment that is to be sent. */
export interface Claim {
  readonly key: string;
  /** What to store. Without it only what is stored already is claimed. */
  readonly intent: Intent | undefined;
  /** A token that is this claim's alone. */
  readonly owner: string;
  /** Whether a `rejected` one is granted: to those alone who know that it was, or may be. */
  readonly allowsRejected: boolean;
  /** After how many milliseconds the claimant is taken for dead. */
  readonly leaseMs: number;
}

/** What a claim found. */
export interface Claimed {
  /** Whether this caller, and no other, may send it now. */
  readonly granted: boolean;
  /** What is stored, after the claim; undefined when there is nothing. */
  readonly stored: StoredPayment | undefined;
}

/** What is known of a payment at the service. */
export interface Finding {
  /** As that of {@link StoredPayment}. */
  readonly referenceNumber: string | undefined;
  /** JSON of its record. */
  readonly payment: string | undefined;
  /** When the record is from, in epoch microseconds; undefined when it does not say. */
  readonly updatedAtUs: number | undefined;
}

/** How a sending ended. */
export type Result =
  | { readonly state: 'created'; readonly finding: Finding; readonly failure?: string | undefined }
  | {
      readonly state: 'rejected' | 'recorded' | 'unresolved';
      /** JSON of an `OutboxFailure`; undefined when the sender did not get as far. */
      readonly failure: string | undefined;
      readonly finding?: undefined;
    };

/** Where a page of a list begins: behind the last entry of the page before. */
export interface Cursor {
  readonly atMs: number;
  readonly key: string;
}

/** A page of a list. */
export interface Page {
  /** Only those of which the time is so long ago. With 0 all: after a clock was set back a time may lie ahead. */
  readonly olderThanMs: number;
  readonly after: Cursor | undefined;
  readonly limit: number;
}

/** An entry of a list: what is stored, and where a page behind it begins. */
export interface Listed {
  readonly key: string;
  readonly stored: StoredPayment;
}

/** A second payment as a store keeps it. */
export interface StoredSecondPayment {
  /** The key of the payment of which it is the second. */
  readonly key: string;
  /** JSON of what was sent for that payment. */
  readonly body: string;
  /** As that of {@link StoredPayment}. */
  readonly referenceNumber: string;
  /** JSON of its record. */
  readonly payment: string;
  readonly foundAtMs: number;
}

/**
 * What an outbox needs of a database: each method is one step, which happens as a whole or not at all, with
 * those of all processes one after another. The store has one clock for all processes.
 *
 * `key` is the merchant's reference, or a digest of it where a store could stumble over the reference: at
 * most 128 printable characters of ASCII, case and all of which count. References are told apart by it. The
 * text itself is in the body. A `referenceNumber` is made in the same way.
 *
 * A `tx` is the merchant's own transaction, in which the step is to be taken; undefined for one of the
 * store's own. No other method may run inside somebody's transaction.
 */
export interface OutboxStore<Tx = unknown> {
  /** Whether {@link record} is refused without a `tx`: one that was forgotten must not store the payment alone. */
  readonly needsTransaction: boolean;
  /**
   * Has the payment sent by one caller alone.
   *
   * - Nothing is stored: with an `intent` it is stored, and granted; without one nothing happens.
   * - `recorded`: granted, unless an `intent` has another digest than what is stored.
   * - `rejected`: granted where it is allowed; an `intent` takes the place of what is stored.
   * - `sending` under a lease that has run out: becomes `unresolved` and keeps its owner. Not granted.
   * - Anything else stays as it is. Not granted.
   *
   * Where it is granted the payment is `sending`, has this owner and a new lease, one more attempt and
   * `sentAt` is now.
   */
  claim(claim: Claim): Promise<Claimed>;
  /**
   * Stores an intent as `recorded`, or as `recorded` again in the place of one that is `rejected`.
   *
   * @returns what stood in the way and stays as it is; undefined when it was stored
   */
  record(key: string, intent: Intent, tx: Tx | undefined): Promise<StoredPayment | undefined>;
  /**
   * Notes how a sending ended, if the payment still has this owner, and has none then. An owner is lost to
   * {@link settle}, {@link resolve} or another claim, and not to a lease that runs out.
   *
   * @param claimed what the claim gave, of which only its owner can have changed more than state and times
   * @returns what is stored then; undefined, with nothing changed, when the owner is another one
   */
  finish(
    key: string,
    owner: string,
    result: Result,
    claimed: StoredPayment | undefined,
  ): Promise<StoredPayment | undefined>;
  /**
   * Notes that the service has the payment.
   *
   * - Nothing is stored under the key: `not-ours`.
   * - Not `created`, or without a `referenceNumber`: becomes `created` with the finding, and has no owner.
   *   `settled`. A `created` one and a finding without a `referenceNumber`: `known`, nothing changes.
   * - The same `referenceNumber`: `known`. The finding takes the place of the record unless it is older;
   *   a record without a time is older than any.
   * - Another `referenceNumber`: `second-payment`. It is kept in another list, one entry for each key
   *   and `referenceNumber`, whose record is the newest.
   */
  settle(key: string, finding: Finding, tx: Tx | undefined): Promise<SettleOutcome>;
  /**
   * Ends what is `unresolved`, a lease that has run out included, as `created` or `rejected`, and takes its
   * owner.
   *
   * @returns false, with nothing changed, when it is anything else
   */
  resolve(
    key: string,
    result: Exclude<Result, { state: 'recorded' | 'unresolved' }>,
  ): Promise<boolean>;
  /** What is stored under the key. */
  read(key: string): Promise<StoredPayment | undefined>;
  /**
   * Makes `unresolved` what is `sending` under a lease that has run out; it keeps its owner.
   *
   * @returns how many there were
   */
  expire(): Promise<number>;
  /** What is `recorded`, by `changedAt` and key. */
  listRecorded(page: Page): Promise<readonly Listed[]>;
  /** What is `unresolved`, a lease that has run out included, by `sentAt` and key. */
  listUnresolved(page: Page): Promise<readonly Listed[]>;
  /** The second payments, by `foundAt`, key and `referenceNumber`. */
  listSecondPayments(
    page: Pick<Page, 'limit'> & { readonly after: StoredSecondPayment | undefined },
  ): Promise<readonly StoredSecondPayment[]>;
  /**
   * Deletes what is `created` or `rejected` and was last changed before a time, and second payments that
   * were found before it.
   *
   * @returns how many payments there were, second ones not counted
   */
  prune(olderThan: Date): Promise<number>;
}
