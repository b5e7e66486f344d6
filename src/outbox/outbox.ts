import type { RequestOptions } from '../client/options.js';
import type { MerchantPaymentsError, RequestError, RequestOutcome } from '../errors.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';

/**
 * What is known of a payment that is to be created.
 *
 * - `recorded`: it is to be sent, and nothing of it is at the service.
 * - `sending`: a process is sending it right now.
 * - `created`: the service has it.
 * - `rejected`: the service did not accept it, or a person found that it was not created.
 * - `unresolved`: it was sent, and whether the service has it is not known. It is never sent again by
 *   itself: its callback settles it, or a person does, by {@link PaymentOutbox.resolve}.
 */
export type OutboxState = 'recorded' | 'sending' | 'created' | 'rejected' | 'unresolved';

/** Why the last attempt to send did not end with an answer that created the payment. */
export interface OutboxFailure {
  /** The `code` of the error. */
  readonly code: string;
  /** What the error said of the payment. */
  readonly requestOutcome: RequestOutcome;
  /** The status of the answer, where there was one. */
  readonly httpStatus?: number | undefined;
}

/** A payment in an outbox. */
export interface OutboxPayment {
  /** The merchant's own reference. */
  merchantPaymentReference: string;
  /** What is known of it. */
  state: OutboxState;
  /**
   * The payment, as the latest callback or else the answer to its creation has it. Absent as long as it is
   * not `created`, and after an answer whose body was lost.
   */
  payment?: (Partial<PaymentStatusRecord> & Record<string, unknown>) | undefined;
  /** Whether this call sent nothing: what is given is what was stored before, or by another call. */
  replayed: boolean;
  /** What is sent: the three fields of the creation. */
  input: CreatePaymentInput;
  /** What is sent beside them. Absent when there is nothing. */
  extraBody?: Record<string, unknown> | undefined;
  /** How often it was taken up to be sent, from 0. */
  attempts: number;
  /** When it was recorded, by the store's clock; by this process's in the result of the call that recorded it. */
  recordedAt: Date;
  /** When it was last taken up to be sent. Absent when it never was. */
  sentAt?: Date | undefined;
  /** When its state, or the payment, last changed. */
  changedAt: Date;
  /** Of the last attempt to send, when it failed. */
  failure?: OutboxFailure | undefined;
  /**
   * The client's error, when this call sent the payment and still has a result: the outcome is unknown
   * (`unresolved`), or the answer was lost (`created`). Not stored.
   */
  error?: MerchantPaymentsError | undefined;
}

/** A payment that the service has beside the first one of the same `merchantPaymentReference`. */
export interface SecondPayment {
  /** The merchant's own reference. */
  merchantPaymentReference: string;
  /** The service's identifier of the payment. */
  referenceNumber: string;
  /** As the latest callback, or the answer to its creation, has it. */
  payment: Partial<PaymentStatusRecord> & Record<string, unknown>;
  /** When it was first seen, by the store's clock. */
  foundAt: Date;
}

/**
 * What a callback was to the outbox.
 *
 * - `settled`: the payment was not known to be created; now it is.
 * - `known`: it was known; the newest of its records is kept.
 * - `second-payment`: the service has another payment for the same reference already. It is listed by
 *   {@link PaymentOutbox.secondPayments}: somebody has to refund it.
 * - `not-ours`: the outbox has no payment of this reference.
 */
export type SettleOutcome = 'settled' | 'known' | 'second-payment' | 'not-ours';

/** Whose transaction to write in. */
export interface OutboxContext<Tx> {
  /** The merchant's own transaction, or that of an inbox of the same database. */
  tx: Tx;
}

/** What {@link PaymentOutbox.record} is given besides the payment. */
export interface RecordContext<Tx> extends OutboxContext<Tx> {
  /** Fields that the interface does not show, sent beside the three. */
  extraBody?: Record<string, unknown> | undefined;
}

/** Options of {@link PaymentOutbox.unresolved}. */
export interface UnresolvedOptions {
  /**
   * Only payments that were sent longer ago than so many milliseconds. A whole number from 0.
   * @default 0
   */
  olderThanMs?: number | undefined;
  /**
   * How many at most. A whole number from 1.
   * @default all of them
   */
  limit?: number | undefined;
}

/** Options of {@link PaymentOutbox.secondPayments}. */
export type SecondPaymentsOptions = Pick<UnresolvedOptions, 'limit'>;

/** What a person found out about an unresolved payment. */
export type Resolution =
  | {
      /** The service has it. */
      created: {
        /** The service's identifier of it. */
        referenceNumber: string;
      };
    }
  | 'not-created';

/** What {@link PaymentOutbox.recover} did. */
export interface Recovery {
  /** How many recorded payments were sent. */
  resent: number;
  /** How many became `unresolved`: their process died while it was sending, or this one got no answer. */
  unresolved: number;
  /** How many of those that were sent the service refused, which are `rejected` now; absent when none. */
  rejected?: number | undefined;
  /**
   * Why it ended early: the service could not be reached, gave no answer or a 5xx, or answered 429, or 403, 404
   * or 405, which a wrong address or a firewall gives for any payment. The rest stays recorded.
   */
  error?: RequestError | undefined;
}

/**
 * Creates payments so that no order gets two of them, across crashes and on any number of instances
 * (interface section 4.1, which promises nothing for a creation that is sent twice).
 * `merchant-payments/outbox/contract` tests an implementation.
 *
 * A payment is stored before it is sent. One `merchantPaymentReference` is sent by one caller at a time
 * and, once the service may have it, never again by itself.
 */
export interface PaymentOutbox<Tx = unknown> {
  /**
   * Stores the payment and sends it. Asked again for the same payment, it gives what is stored
   * (`replayed`), and waits for it while another caller is sending it: until `timeoutMs` has passed, then
   * what is given is `sending`. Where that caller gives up without having sent it, this one sends it, with the
   * whole of `timeoutMs` again: what little was left would make one more outcome unknown. A rejected one is
   * sent again, and may be corrected.
   *
   * When the outcome is not known it resolves with `unresolved` and the `error`: the payment may exist, and
   * its callback settles it.
   *
   * @throws {InvalidRequestError} when the input is invalid; nothing was stored
   * @throws {InvalidOptionError} when an option of the call is invalid; nothing was stored
   * @throws {OutboxError} `REFERENCE_CONFLICT` when another payment is stored under this reference; nothing
   * was sent. `OUTBOX_TIMEOUT`, `MISSING_TABLES` or `STORE_FAILED` when the store fails
   * @throws {RequestError} when the service did not accept it (stored as `rejected`), and when nothing was
   * sent or with a 429 (stored as `recorded`: {@link recover}, `send` or another `create` sends it)
   */
  create(input: CreatePaymentInput, options?: RequestOptions): Promise<OutboxPayment>;
  /**
   * Stores the payment in a transaction of the merchant's, and sends nothing: with the order it is there or
   * not at all. Call {@link send} after the commit; what a crash leaves is sent by {@link recover}. Asked
   * again for the same payment it changes nothing; one that was rejected is to be sent again.
   *
   * @throws {InvalidRequestError} when the input is invalid
   * @throws {InvalidOptionError} when `tx` is missing, or is no open transaction, at a database server
   * @throws {OutboxError} `REFERENCE_CONFLICT` when another payment is stored under this reference
   */
  record(input: CreatePaymentInput, context: RecordContext<Tx>): Promise<void>;
  /**
   * Sends what was recorded: as {@link create}, for a payment that is stored.
   *
   * @throws {OutboxError} `UNKNOWN_REFERENCE` when nothing is stored under this reference
   */
  send(merchantPaymentReference: string, options?: RequestOptions): Promise<OutboxPayment>;
  /**
   * Notes what a callback says. A receiver with the option `outbox` does so for every callback. The callback
   * must be verified. With `tx: undefined` it is noted in a transaction of the outbox's own.
   */
  settle(payment: PaymentStatusRecord, context: OutboxContext<Tx>): Promise<SettleOutcome>;
  /** What is stored under a reference: for a page to which the customer returns. */
  get(merchantPaymentReference: string): Promise<OutboxPayment | undefined>;
  /**
   * The payments that the service may or may not have, the oldest first, by `sentAt`.
   */
  unresolved(options?: UnresolvedOptions): AsyncIterable<OutboxPayment>;
  /** The payments that the service has beside the first of their reference, in the order in which they were found. */
  secondPayments(options?: SecondPaymentsOptions): AsyncIterable<SecondPayment>;
  /**
   * Says what a person has found out at the service. With `'not-created'` the payment is `rejected`: a
   * `create` or `send` sends it again, {@link recover} does not.
   *
   * @throws {OutboxError} `UNKNOWN_REFERENCE`; `OUTBOX_STATE` when it is not unresolved
   */
  resolve(merchantPaymentReference: string, resolution: Resolution): Promise<void>;
  /**
   * Tidies up after crashes: what a process was sending when it died becomes `unresolved`, and what was
   * recorded is sent. Safe from any number of processes at any time: run it on a timer. Where every payment
   * would fare the same (`error`), it leaves the rest for the next time.
   *
   * @throws {ApiError} for a 401; what was recorded stays so
   * @throws {SecretUnavailableError} when the client's credentials can't be read
   * @throws {OutboxError} when the store fails
   */
  recover(): Promise<Recovery>;
  /**
   * Forgets the payments that are `created` or `rejected` and last changed before `olderThan`, and second
   * payments that were found before. A forgotten reference can be created again, and its callbacks are
   * `not-ours`: keep them for longer than a customer, or the service, may come back to an order.
   *
   * @returns how many payments were forgotten
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   */
  prune(olderThan: Date): Promise<number>;
}
