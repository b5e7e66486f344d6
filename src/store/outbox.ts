import type { RequestOptions } from '../client/options.js';
import type { MerchantPaymentsError, RequestError, RequestOutcome } from '../errors.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';

/**
 * The state of a payment in the outbox.
 *
 * - `recorded`: it is waiting to be sent, and does not exist at the service.
 * - `sending`: a process is sending it right now.
 * - `created`: it exists at the service.
 * - `rejected`: the service did not accept it, or a person found that it was not created.
 * - `unresolved`: it was sent, and may or may not exist at the service. The outbox never sends it again:
 *   its callback settles it, or a person does, by {@link PaymentOutbox.resolve}.
 */
export type OutboxState = 'recorded' | 'sending' | 'created' | 'rejected' | 'unresolved';

/** Why the last attempt to send did not return a created payment. */
export interface OutboxFailure {
  /** The `code` of the error. */
  readonly code: string;
  /** The error's `requestOutcome`: whether the payment may exist. */
  readonly requestOutcome: RequestOutcome;
  /** The HTTP status of the answer, if there was one. */
  readonly httpStatus?: number | undefined;
}

/** A payment in an outbox. */
export interface OutboxPayment {
  /** The merchant's own reference. */
  merchantPaymentReference: string;
  /** Its state. */
  state: OutboxState;
  /**
   * The payment's record, from the latest callback or else from the answer to its creation. Absent unless it is
   * `created`, and after an answer whose body was lost.
   */
  payment?: (Partial<PaymentStatusRecord> & Record<string, unknown>) | undefined;
  /** Whether this call sent nothing, and returns what was stored earlier or by another call. */
  replayed: boolean;
  /** The three fields of the creation, as sent. */
  input: CreatePaymentInput;
  /** The fields sent in addition to them. Absent if there are none. */
  extraBody?: Record<string, unknown> | undefined;
  /** The number of attempts to send it, from 0. */
  attempts: number;
  /** When it was recorded, by the store's clock; in the result of the call that recorded it, by this process's clock. */
  recordedAt: Date;
  /** When the last attempt to send it began. Absent if there was none. */
  sentAt?: Date | undefined;
  /** When its state or its record last changed. */
  changedAt: Date;
  /** Why the last attempt to send failed, if it did. */
  failure?: OutboxFailure | undefined;
  /**
   * The client's error, if this call sent the payment and returns a result all the same: the outcome is unknown
   * (`unresolved`), or the answer was lost (`created`). Not stored.
   */
  error?: MerchantPaymentsError | undefined;
}

/** A further payment at the service with the `merchantPaymentReference` of an earlier one. */
export interface SecondPayment {
  /** The merchant's own reference. */
  merchantPaymentReference: string;
  /** The service's identifier of the payment. */
  referenceNumber: string;
  /** Its record, from the latest callback or the answer to its creation. */
  payment: Partial<PaymentStatusRecord> & Record<string, unknown>;
  /** When it was first seen, by the store's clock. */
  foundAt: Date;
}

/**
 * What a callback meant to the outbox.
 *
 * - `settled`: the payment was not known to be created; now it is.
 * - `known`: it was known already; the newest record is kept.
 * - `second-payment`: the service already has another payment for the same reference. It is listed by
 *   {@link PaymentOutbox.secondPayments}: look both up at the service, and refund one if both are paid.
 * - `not-ours`: the outbox has no payment with this reference.
 */
export type SettleOutcome = 'settled' | 'known' | 'second-payment' | 'not-ours';

/** The transaction to write in. */
export interface OutboxContext<Tx> {
  /** The merchant's own transaction, or that of an inbox of the same database. */
  tx: Tx;
}

/** The second argument of {@link PaymentOutbox.record}. */
export interface RecordContext<Tx> extends OutboxContext<Tx> {
  /** Fields that the interface does not document, sent in addition to the three. */
  extraBody?: Record<string, unknown> | undefined;
}

/** Options of {@link PaymentOutbox.unresolved}. */
export interface UnresolvedOptions {
  /**
   * Lists only payments sent at least this many milliseconds ago. A whole number from 0.
   * @default 0
   */
  olderThanMs?: number | undefined;
  /**
   * The most payments to list. A whole number from 1.
   * @default all
   */
  limit?: number | undefined;
}

/** Options of {@link PaymentOutbox.secondPayments}. */
export type SecondPaymentsOptions = Pick<UnresolvedOptions, 'limit'>;

/** What a person found out about an unresolved payment. */
export type Resolution =
  | {
      /** It exists at the service. */
      created: {
        /** The service's identifier of the payment. */
        referenceNumber: string;
      };
    }
  | 'not-created';

/** The payment on which a person's decision is based: the one that {@link PaymentOutbox.unresolved} listed. */
export interface SeenPayment {
  /** Its `attempts` when it was looked up at the service. A whole number from 0. */
  attempts: number;
}

/** The result of {@link PaymentOutbox.recover}. */
export interface Recovery {
  /** How many recorded payments were sent. */
  resent: number;
  /** How many became `unresolved`: their process died while sending, or this call received no answer. */
  unresolved: number;
  /** How many of the sent payments the service refused, which are now `rejected`; absent if none. */
  rejected?: number | undefined;
  /**
   * Why it ended early: the service could not be reached, did not answer, or answered with 5xx, 429, or with 403, 404
   * or 405, which a wrong address or a firewall returns for every payment. The other payments stay recorded. Or the
   * first 4xx without an error code, which a proxy may have sent: its payment stays recorded, and the others are tried
   * one at a time.
   */
  error?: RequestError | undefined;
}

/**
 * Creates payments so that no order gets two of them, across crashes and on any number of instances
 * (interface section 4.1 promises nothing for a creation that is sent twice).
 *
 * A payment is stored before it is sent. Only one caller at a time sends a `merchantPaymentReference`
 * and, once the payment may exist at the service, the outbox does not send it again.
 */
export interface PaymentOutbox<Tx = unknown> {
  /**
   * Stores the payment and sends it. Called again for the same payment, it resolves with what is stored
   * (`replayed`). While another caller is sending the payment, it waits for up to `timeoutMs`, and then resolves
   * with `sending`. If that caller gives up without having sent it, this call sends it with a new
   * `timeoutMs`, because with the little time left the outcome could stay unknown. A rejected payment is
   * sent again, and may be corrected.
   *
   * If the outcome is unknown, it resolves with `unresolved` and the `error`: the payment may exist, and
   * its callback settles it.
   *
   * @throws {InvalidRequestError} when the input is invalid; nothing was stored
   * @throws {InvalidOptionError} when an option of the call is invalid; nothing was stored
   * @throws {StoreError} `REFERENCE_CONFLICT` when another payment is stored under this reference; nothing
   * was sent. `STORE_TIMEOUT`, `MISSING_TABLES` or `STORE_FAILED` when the store fails, perhaps after sending: keep the
   * reference, with which another call never creates a second payment
   * @throws {RequestError} when the service did not accept the payment (stored as `rejected`), and when nothing was
   * sent or it answered 429 (stored as `recorded`: {@link recover}, `send` or another `create` sends it)
   */
  create(input: CreatePaymentInput, options?: RequestOptions): Promise<OutboxPayment>;
  /**
   * Stores the payment in your own transaction, and sends nothing: order and payment are stored together or
   * not at all. Call {@link send} after the commit; after a crash, {@link recover} sends it. Called
   * again for the same payment, it changes nothing, except that a rejected payment becomes `recorded` again.
   *
   * @throws {InvalidRequestError} when the input is invalid
   * @throws {InvalidOptionError} with a database server, when `tx` is missing or not an open transaction
   * @throws {StoreError} `REFERENCE_CONFLICT` when another payment is stored under this reference
   */
  record(input: CreatePaymentInput, context: RecordContext<Tx>): Promise<void>;
  /**
   * Sends a recorded payment: like {@link create}, for a payment that is already stored.
   *
   * @throws {StoreError} `UNKNOWN_REFERENCE` when nothing is stored under this reference
   */
  send(merchantPaymentReference: string, options?: RequestOptions): Promise<OutboxPayment>;
  /**
   * Stores the record from a callback. A receiver with the option `outbox` calls this for every callback. The
   * callback must be verified. With `tx: undefined`, the outbox uses its own transaction.
   */
  settle(payment: PaymentStatusRecord, context: OutboxContext<Tx>): Promise<SettleOutcome>;
  /** Resolves with what is stored under a reference, for example for the page to which the customer returns. */
  get(merchantPaymentReference: string): Promise<OutboxPayment | undefined>;
  /**
   * Lists the payments that may or may not exist at the service, the oldest `sentAt` first.
   */
  unresolved(options?: UnresolvedOptions): AsyncIterable<OutboxPayment>;
  /** Lists the payments whose reference already had a payment, in the order in which they were found. */
  secondPayments(options?: SecondPaymentsOptions): AsyncIterable<SecondPayment>;
  /**
   * Resolves a payment by hand, after someone has looked it up at the service. With `'not-created'`, the payment
   * becomes `rejected`: `create` or `send` sends it again, {@link recover} does not.
   *
   * `seen` names what the decision is based on: a decision about an earlier attempt says nothing about a later one.
   *
   * @throws {InvalidOptionError} when the reference, the resolution or `seen.attempts` is invalid
   * @throws {StoreError} `UNKNOWN_REFERENCE`. `STATE_CHANGED`, with nothing changed, when the payment is not
   * unresolved or has other attempts, and for `'not-created'` while the last attempt may still create the payment
   * (until its lease ends)
   */
  resolve(
    merchantPaymentReference: string,
    resolution: Resolution,
    seen: SeenPayment,
  ): Promise<void>;
  /**
   * Cleans up after crashes: payments whose process died while sending become `unresolved`, and recorded
   * payments are sent. Any number of processes may call it at any time: run it on a timer. If the service would
   * fail every payment alike (`error`), the other payments wait for the next call.
   *
   * @throws {ApiError} for a 401; the payments stay recorded
   * @throws {SecretUnavailableError} when the client's credentials can't be read
   * @throws {StoreError} when the store fails
   */
  recover(): Promise<Recovery>;
  /**
   * Deletes payments that are `created` or `rejected` and last changed before `olderThan`, and second
   * payments found before it. A deleted reference can be created again, and its callbacks are
   * `not-ours`: keep payments for longer than a customer, or the service, may return to an order.
   *
   * @returns how many payments were deleted, second payments not counted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   */
  prune(olderThan: Date): Promise<number>;
}
