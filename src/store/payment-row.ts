import type { PaymentState } from './stored-payment.js';

/**
 * The state of a row.
 *
 * - `unheard`: `created`, and no callback about it has come.
 * - `missed`: the same, and `lookUp` has found a status of which a callback should have told.
 * - `elsewhere`: no payment of the order was created through the store, and callbacks have told of one; or of none yet,
 *   while its first change is processed.
 */
export type RowState = PaymentState | 'unheard' | 'missed' | 'elsewhere';

/** The states of payments that have ended. */
export const ENDED: readonly RowState[] = ['created', 'unheard', 'missed', 'rejected', 'elsewhere'];

/** A payment as stored. */
export interface PaymentRow {
  /** The request as JSON with ordered keys. Empty for a payment that is known from callbacks alone, like its digest. */
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
  /** JSON of the status that `lookUp` has found, while the payment is `missed`. */
  readonly foundStatus: string | undefined;
  /** JSON of a `SendFailure`. */
  readonly failure: string | undefined;
  /** Of a later attempt at an order: JSON of the order's first reference. */
  readonly order: string | undefined;
  /** JSON of the reference of the attempt that has replaced this one. */
  readonly replacedBy: string | undefined;
}

export type Intent = Pick<PaymentRow, 'body' | 'digest'>;

export interface Recording {
  readonly key: string;
  readonly intent: Intent;
  /** The reference in full of the attempt that it replaces. */
  readonly replaces?: string | undefined;
  /** The statuses after which a further attempt at the order is recorded in its place; undefined for none. */
  readonly declined?: Statuses | undefined;
}

export type Statuses = ReadonlySet<unknown>;

export interface Recorded {
  /** The attempt that is meant. */
  readonly key: string;
  /** Undefined if another attempt has paid the order, so that nothing is to be sent. */
  readonly intent: Intent | undefined;
  /** What is stored now; may be undefined if it is the intent. */
  readonly stored?: PaymentRow | undefined;
  /** Why it replaces nothing; nothing was changed. */
  readonly refused?: Refused | undefined;
  /** JSON of the reference of the attempt that has replaced the other one. */
  readonly replacedBy?: string | undefined;
}

/** Why an attempt can't be replaced, or sent: see `NOT_REPLACEABLE`. */
export type Refused = 'unknown' | 'paid' | 'open' | 'replaced' | 'in-use';

export type Attempt = Pick<Listed, 'key' | 'stored'>;

/** The attempts at an order: how many there are, the latest one, and the one that has paid it. */
export interface Order {
  readonly count: number;
  readonly latest: Attempt;
  readonly paid: Attempt | undefined;
}

export interface Claim {
  readonly key: string;
  /** The payment to store if there is none. Undefined to claim only a stored one. */
  readonly intent: Intent | undefined;
  /** The fencing token. */
  readonly owner: string;
  /** Whether a `rejected` payment may be claimed: only for callers who ask for that payment, not for recover(). */
  readonly allowsRejected: boolean;
  /** Whether an `unresolved` payment is sent again, and no other. Only for a service that recognises repetitions. */
  readonly isRepetition?: boolean | undefined;
  /** After it, in milliseconds, the owner counts as dead. */
  readonly leaseMs: number;
}

export interface Claimed {
  /** Whether this caller alone may send the payment now. */
  readonly granted: boolean;
  /** The payment as stored after the claim; undefined if there is none. */
  readonly stored: PaymentRow | undefined;
  /** Whether it is not sent because another attempt has paid the order. */
  readonly isPaid?: boolean | undefined;
}

/** What a callback or an answer says about a payment. */
export interface ServiceRecord {
  /** Like that of {@link PaymentRow}. */
  readonly referenceNumber: string | undefined;
  /** JSON of its record. */
  readonly payment: string | undefined;
  /** The record's `updatedAt`, in epoch microseconds; undefined if it has none. */
  readonly updatedAtUs: number | undefined;
}

/** The result of an attempt to send, with JSON of a `SendFailure`, if it has failed. */
export type Result = { readonly failure?: string | undefined } & (
  | { readonly state: 'created'; readonly serviceRecord: ServiceRecord }
  | { readonly state: 'rejected' | 'recorded' | 'unresolved'; readonly serviceRecord?: undefined }
);

/** What a person, or a look at the service, found out about a payment. */
export type Decision =
  | { readonly state: 'created'; readonly serviceRecord: ServiceRecord }
  | NotCreated;

/** That a payment, with these attempts when it was listed, does not exist at the service. */
export interface NotCreated {
  /** `recorded`: it may be sent again. */
  readonly state: 'rejected' | 'recorded';
  readonly attempts: number;
  /** The store's time before it was looked up. */
  readonly listedAtMs: number;
  /** For how long after a claim the service may act on the request. */
  readonly lifetimeMs: number;
}

/** What became of a decision: unless it is `decided`, nothing was changed. */
export type Decided =
  | { readonly outcome: 'decided' }
  /** The payment has another state or other attempts. */
  | { readonly outcome: 'moved-on'; readonly stored: PaymentRow }
  /** It was listed while the last attempt could still create the payment, as it can for so many milliseconds. */
  | { readonly outcome: 'too-early'; readonly leftMs: number }
  | { readonly outcome: 'unknown' };

/** The place of an entry in a list: a page starts after that of the last entry of the page before. */
export interface Cursor {
  readonly atMs: number;
  readonly names: readonly string[];
}

export interface Page {
  /** The least age of an entry. 0 lists all, even a time in the future, which a clock that was set back leaves. */
  readonly olderThanMs: number;
  readonly after: Cursor | undefined;
  readonly limit: number;
}

/** `foundStatus` of a payment that was found paid. */
export const FOUND_PAID = JSON.stringify('paid');

/**
 * A list of payments, ordered by `changedAt` and their keys.
 *
 * - `unresolved`: those and `sending` ones whose lease has expired, by `sentAt`.
 * - `missed-paid`, `missed`: those that `lookUp` has found paid, or with another status.
 * - `unheard`: the other `created` payments without a callback.
 */
export type ListKind = 'recorded' | 'unresolved' | 'missed-paid' | 'missed' | 'unheard';

/**
 * Payments about which `lookUp` is asked now, by `sentAt`.
 *
 * - `unresolved`: like that of {@link ListKind}, during the lease too: a payment that exists is created at once.
 * - `waiting`: `created` ones without a callback, once the lifetime of their request is over.
 */
export type DueKind = 'unresolved' | 'waiting';

export interface Listed {
  readonly place: Cursor;
  readonly key: string;
  readonly stored: PaymentRow;
  /** The store's time. */
  readonly listedAtMs: number;
}

export interface SecondRow extends Pick<Listed, 'place' | 'listedAtMs'> {
  /** JSON of its record. */
  readonly payment: string;
}

/** How a store keeps texts that it compares: as they are in memory, which needs no module of Node. */
export interface StoredForms {
  toName(text: string): string;
  toDigest(text: string): string;
}
