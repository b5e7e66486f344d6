import type { FailureText } from './failure.js';
import type { PaymentFields, StoredPayment } from './stored-payment.js';

/**
 * What needs a person.
 *
 * - `unresolved`: a payment was sent, and may or may not exist at the service. It is listed once the service can no longer
 *   act on its request (`requestLifetimeMs`). Look it up at the service now, then `markCreated` or `markNotCreated`.
 * - `second-payment`: another payment has paid the order, or the service has another one for the reference. Look both up,
 *   refund one if both are paid, then `discard` the item.
 * - `failed-change`: the work for a change failed. Fix the cause; the service's next delivery, or a replay, runs it.
 * - `no-callback`: a payment was created, and no callback about it has come. Look it up at the service, check that
 *   callbacks reach you, then `discard` the item, or `markNotCreated` if the service has no such payment. Those that
 *   `lookUp` has found paid come first, then those with another status.
 */
export type AttentionKind = 'unresolved' | 'second-payment' | 'failed-change' | 'no-callback';

/** One item of `attention()`. */
export type Attention = UnresolvedPayment | SecondPayment | FailedChange | PaymentWithoutCallback;

interface Item<Kind extends AttentionKind> {
  /** What is wrong. */
  kind: Kind;
  /** The merchant's own reference. */
  merchantPaymentReference: string;
  /** Since when the item is on the list, by the store's clock: it was sent, found, failed first, or created then. */
  since: Date;
  /** When it was listed, by the store's clock. A decision is based on what was so then. */
  listedAt: Date;
}

/** A payment whose outcome is unknown. */
export interface UnresolvedPayment extends Item<'unresolved'> {
  /** How often it was sent. */
  attempts: number;
  /** The payment. */
  stored: StoredPayment & {
    /** That of the kind. */
    state: 'unresolved';
  };
}

/** Another payment than the one that has paid the order, or a further one for a reference that has one already. */
export interface SecondPayment extends Item<'second-payment'> {
  /** The service's identifier of this payment. */
  referenceNumber: string;
  /** Its record, from the latest callback or the answer to its creation. */
  payment: PaymentFields;
}

/** A change whose work failed and has not completed since. */
export interface FailedChange extends Item<'failed-change'> {
  /** The service's identifier of the payment. */
  referenceNumber: string;
  /** The key of the change. */
  key: string;
  /** When the change happened at the service: its `updatedAt`, to the millisecond. */
  occurredAt: Date;
  /** How often its work has failed. */
  attempts: number;
  /** When it last failed. */
  lastFailedAt: Date;
  /** Whether it is parked: deliveries are acknowledged without a run, and only a replay runs it again. */
  parked: boolean;
  /** Why it last failed. */
  error: FailureText;
  /** The verified body as received. Missing once `prune` has removed it. */
  rawBody?: Uint8Array | undefined;
}

/** A created payment about which no callback has come. */
export interface PaymentWithoutCallback extends Item<'no-callback'> {
  /** How often it was sent. */
  attempts: number;
  /**
   * The status that `lookUp` has found at the service, if a callback should have told of it. It is not applied: the
   * callback is the authority, so ask the service to send it again.
   */
  foundStatus?: string | undefined;
  /** The payment. */
  stored: StoredPayment & {
    /** That of the kind. */
    state: 'created';
  };
}

/** Selects what `attention()` lists. */
export interface AttentionOptions {
  /**
   * The kinds to list, in this order.
   * @default all four, in this order: `'unresolved'`, `'second-payment'`, `'failed-change'`, `'no-callback'`
   */
  kinds?: readonly Attention['kind'][] | undefined;
  /**
   * Lists only items that are on the list for at least this many milliseconds. A whole number from 0.
   * @default 0, and 3_600_000 (one hour) for `no-callback`
   */
  olderThanMs?: number | undefined;
  /**
   * The most items to list. A whole number from 1.
   * @default all
   */
  limit?: number | undefined;
  /**
   * Lists only failed changes of this payment: the service's `referenceNumber`. The other kinds are then left out.
   * @default all payments
   */
  referenceNumber?: string | undefined;
}
