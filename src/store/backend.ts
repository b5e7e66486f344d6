import type { FailedChange } from './attention.js';
import type { ChangeResult, StoreContext } from './callback-store.js';
import type { Change, ChangeName, PaymentName } from './change.js';
import type {
  Claim,
  Claimed,
  Decided,
  Decision,
  DueKind,
  Listed,
  ListKind,
  Order,
  Page,
  PaymentRow,
  Recorded,
  Recording,
  Result,
  SecondRow,
  ServiceRecord,
  StoredForms,
} from './payment-row.js';
import type { Look } from './steps.js';

/** A failed change as stored. */
export type FailedRow = Pick<Listed, 'place'> & { readonly item: FailedChange };

/**
 * The operations of a store's tables. Each method is one atomic step, serialized with those of all processes, which share
 * the store's clock. `key` is the stored form of the merchant's reference, whose case matters; so is a `referenceNumber`.
 */
export interface CallbackTables<Tx> {
  readonly forms: StoredForms;
  process(
    change: Change,
    work: (context: StoreContext<Tx>) => Promise<void>,
  ): Promise<ChangeResult>;
  list(kind: ListKind, page: Page): Promise<readonly Listed[]>;
  /** Ordered by when they were found, and their names. */
  listSecond(page: Page): Promise<readonly SecondRow[]>;
  /** Of one payment or all, ordered by their first failure, and their names. */
  listFailed(page: Page, referenceNumber: string | undefined): Promise<readonly FailedRow[]>;
  /** Stops waiting for a first callback, like the two that follow unless there was a change: then it returns true. */
  stopWaiting(key: string, attempts: number): Promise<boolean>;
  /** Deletes a second payment if its record is still the same. */
  forgetSecond(name: PaymentName, isSame: (payment: string) => boolean): Promise<boolean>;
  /** Deletes the failure of a change if it has this many attempts. */
  forgetFailed(name: ChangeName, attempts: number): Promise<boolean>;
  setup(): Promise<void>;
  /** As `CallbackStore.prune`. Processed changes of a payment with a failed one are kept too. */
  prune(beforeMs: number): Promise<number>;
}

/** The same, and the payments that the store sends. Only {@link record} may run in a transaction of the merchant's. */
export interface Backend<Tx = unknown> extends CallbackTables<Tx> {
  /** Whether {@link record} requires a `tx`, so that a forgotten one does not store the payment without its order. */
  readonly needsTransaction: boolean;
  /** Claims a payment, so that only one caller sends it, and stores the intent if nothing is stored. */
  claim(claim: Claim): Promise<Claimed>;
  /**
   * Stores an intent as `recorded` if nothing or a `rejected` payment is stored. If it replaces another attempt, that one
   * is marked in the same step. With `declined`, the intent may be that of a further attempt at its order, under a
   * reference that the store names, or of the latest one. Locks are taken from the attempt to its order, never back:
   * a transaction that holds an order's first row waits for no other row of it.
   *
   * @param tx the merchant's own transaction; if it is undefined, the store uses its own
   */
  record(recording: Recording, tx: Tx | undefined): Promise<Recorded>;
  /** Reads the attempts at an order; undefined if there is none, or its reference is that of a later attempt. */
  readOrder(key: string): Promise<Order | undefined>;
  /**
   * Stores the result of an attempt if the payment still has this owner, and clears the owner, which a payment also loses
   * to {@link process}, {@link decide} or another claim, but not when its lease expires.
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
  /** Stores what a late answer says. */
  settle(key: string, serviceRecord: ServiceRecord): Promise<void>;
  decide(key: string, decision: Decision): Promise<Decided>;
  listDue(kind: DueKind, lifetimeMs: number, page: Page): Promise<readonly Listed[]>;
  /** Stores what a look that has decided nothing has found, unless the payment has changed since: then it returns false. */
  look(key: string, look: Look): Promise<boolean>;
  read(key: string): Promise<PaymentRow | undefined>;
  /** Makes payments that are `sending` under an expired lease `unresolved`, and counts them; they keep their owner. */
  expire(): Promise<number>;
}

/** A backend whose transactions are of no interest. */
export type Tables = Omit<Backend<never>, 'process'>;

/** The lists of what needs a person. */
export type Lists = Omit<CallbackTables<never>, 'process'>;
