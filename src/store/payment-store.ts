import type { RequestOptions } from '../client/options.js';
import type { RequestError } from '../errors.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';
import type { Awaitable } from '../protocol/waiting.js';
import type { CallbackStore } from './callback-store.js';
import type { StoredPayment } from './stored-payment.js';

interface Replacing {
  /**
   * The reference of the order's latest attempt, which this one replaces under a reference of your own.
   * @default none: the reference is an order's
   */
  replaces?: string | undefined;
}

/** The second argument of {@link PaymentStore.record}. */
export interface RecordContext<Tx> extends Replacing {
  /** Your own open transaction, or the `tx` that the store passed to your work. */
  tx: Tx;
  /** Fields that the interface does not document, sent in addition to the three. */
  extraBody?: Record<string, unknown> | undefined;
}

/** A payment as `attention()` listed it: the item itself, or as it came back from JSON. */
export interface ListedPayment {
  /** What is wrong. */
  kind?: 'unresolved' | 'no-callback' | undefined;
  /** The merchant's own reference. */
  merchantPaymentReference: string;
  /** How often it had been sent. A whole number from 0. */
  attempts: number;
  /** When it was listed, by the store's clock: a Date, or its ISO text. */
  listedAt: Date | string;
}

/** Options of {@link PaymentStore.recover}. */
export interface RecoverOptions {
  /**
   * Looks a payment up at the service. Return its `referenceNumber`, with its `status` if you know it, or `'not-created'`
   * if the service certainly has no payment for this reference, or nothing if you can't tell. It has a minute. If it
   * throws, nothing changes, and the others are recovered.
   *
   * An unresolved payment that it finds is created at once; one that was not created is sent again, if it was looked up
   * after `requestLifetimeMs`. From then on it is also asked about `created` payments without a callback, at most 100 in
   * a pass, the oldest first, each again when the time since it was sent has doubled: `attention()` shows the status.
   */
  lookUp?(
    merchantPaymentReference: string,
  ): Awaitable<
    | (Pick<PaymentStatusRecord, 'referenceNumber'> & Partial<Pick<PaymentStatusRecord, 'status'>>)
    | 'not-created'
    | undefined
  >;
}

/** The result of {@link PaymentStore.recover}. */
export interface Recovery {
  /** How many payments were sent. */
  resent: number;
  /** How many are `unresolved`: their process died while sending, no answer came, or a repetition was refused. */
  unresolved: number;
  /** How many unresolved payments `lookUp` has found at the service; absent if none. */
  found?: number | undefined;
  /** How many of the sent payments the service refused, which are now `rejected`; absent if none. */
  rejected?: number | undefined;
  /**
   * Why it ended early: there was no answer, or a 5xx, 429, 403, 404 or 405. Or the first 4xx without an error code, which
   * a proxy may have sent, and after which the others were tried.
   */
  error?: RequestError | undefined;
}

/** Options of {@link PaymentStore.startRecovery}. */
export interface RecoveryOptions extends RecoverOptions {
  /**
   * How long to wait between two calls of `recover`, in milliseconds. A whole number from 1 to 2_147_483_647.
   * @default 60_000
   */
  everyMs?: number | undefined;
  /**
   * Called when `recover` fails, and not awaited. What it throws is ignored.
   * @default logs codes and messages to console.error; nothing if the store has a `logger`
   */
  onError?(error: unknown): unknown;
}

/** A recovery that runs until it is stopped. With `await using`, it stops at the end of the block. */
export interface RunningRecovery extends AsyncDisposable {
  /** Stops it. Resolves once a `recover` that is under way has ended. */
  stop(): Promise<void>;
}

/**
 * A store that also creates payments, so that no order gets two of them, across crashes and on any number of instances
 * (interface section 4.1 promises nothing for a creation that is sent twice). A payment is stored before it is sent. Only
 * one caller at a time sends it and, once it may exist at the service, it is not sent again: its callback settles it.
 *
 * `Tx` is what the work of a callback gets, `Taken` what `record` accepts: with an ORM that has several kinds of
 * transactions, such as Kysely, any of them.
 */
export interface PaymentStore<Tx = undefined, Taken = Tx> extends Required<CallbackStore<Tx>> {
  /**
   * Stores the payment and sends it. It resolves whatever the service and the network did: read the `state`, and the
   * `error` of a payment that was not created. Called again for the same payment, it resolves with what is stored
   * (`replayed`), and so it does, whatever the input, if callbacks have told of a payment that another program created.
   * While another caller is sending it, it waits for up to `timeoutMs`, and then resolves with `sending`. A rejected
   * payment is sent again, and may be corrected.
   *
   * @throws {InvalidRequestError} when the input is invalid, `InvalidOptionError` when an option is; nothing was stored
   * @throws {StoreError} with nothing sent, `REFERENCE_CONFLICT` when another payment is stored under this reference, and
   * `NOT_REPLACEABLE` for what can't be replaced, or whose order is paid. `STORE_TIMEOUT`, `MISSING_TABLES` or
   * `STORE_FAILED` when the store fails, perhaps after sending: call again with the same reference
   * @throws {InvalidCredentialsError} for a 401 (stored as `rejected`), `SecretUnavailableError` when the client's
   * credentials can't be read, `RequestAbortedError` when the signal ended the call before anything was sent
   */
  create(input: CreatePaymentInput, options?: RequestOptions & Replacing): Promise<StoredPayment>;
  /**
   * Stores the payment in your own transaction, and sends nothing: order and payment are stored together or not at all.
   * Call {@link send} after the commit; after a crash, {@link recover} sends it. Called again for the same payment, it
   * changes nothing, except that a rejected payment becomes `recorded` again.
   *
   * @throws {InvalidRequestError} when the input is invalid
   * @throws {InvalidOptionError} with a database server, when `tx` is missing or not an open transaction
   * @throws {StoreError} `REFERENCE_CONFLICT` and `NOT_REPLACEABLE`, like {@link create}
   */
  record(input: CreatePaymentInput, context: RecordContext<Taken>): Promise<void>;
  /**
   * Sends a recorded payment: like {@link create}, for a payment that is already stored. With the reference of an order of
   * which the store names the attempts, it sends the latest one.
   *
   * @throws {StoreError} `UNKNOWN_REFERENCE` when nothing is stored under this reference; `NOT_REPLACEABLE` for an attempt
   * whose order another one has paid
   */
  send(merchantPaymentReference: string, options?: RequestOptions): Promise<StoredPayment>;
  /** What is stored under a reference. */
  get(merchantPaymentReference: string): Promise<StoredPayment | undefined>;
  /** The payment that has paid the order with this first reference, or its latest attempt: for the page to return to. */
  getOrder(order: string): Promise<StoredPayment | undefined>;
  /**
   * Says that someone has found an unresolved payment at the service. It is then `created`, at once.
   *
   * @throws {InvalidOptionError} when the reference or the `referenceNumber` is invalid
   * @throws {StoreError} `UNKNOWN_REFERENCE`. `STATE_CHANGED`, with nothing changed, when the payment is not unresolved,
   * unless it is stored with this `referenceNumber`
   */
  markCreated(
    merchantPaymentReference: string,
    found: Pick<PaymentStatusRecord, 'referenceNumber'>,
  ): Promise<void>;
  /**
   * Says that someone has looked a payment up at the service after `attention()` listed it, and that it does not exist
   * there. It is then `rejected`: `create` or `send` sends it again, {@link recover} does not. If its callback comes after
   * all, it is `created`.
   *
   * @throws {InvalidOptionError} when `item` is no such item
   * @throws {StoreError} `UNKNOWN_REFERENCE`. `STATE_CHANGED`, with nothing changed, when the payment has changed since it
   * was listed, or was listed while the service could still create it: read the list again
   */
  markNotCreated(item: ListedPayment): Promise<void>;
  /**
   * Cleans up after crashes: payments whose process died while sending become `unresolved`, and recorded payments are
   * sent. If the client has `idempotency`, unresolved ones are sent again, once their lease is over; what the service then
   * refuses stays unresolved, and is looked up from then on. Any number of processes may call it at any time.
   *
   * @throws {InvalidOptionError} when an option is invalid, or one of the client's is missing
   * @throws {ApiError} for a 401, and `SecretUnavailableError`; the payments stay recorded
   * @throws {StoreError} when the store fails
   * @throws what `lookUp` has thrown first, after all else was recovered; its payment stays unresolved
   */
  recover(options?: RecoverOptions): Promise<Recovery>;
  /**
   * Calls {@link recover} now and every `everyMs`, until it is stopped. It does not keep the process alive.
   *
   * @throws {InvalidOptionError} when an option is invalid, or one of the client's is missing
   */
  startRecovery(options?: RecoveryOptions): RunningRecovery;
}
