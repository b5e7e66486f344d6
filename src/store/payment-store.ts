import type { RequestOptions } from '../client/options.js';
import type { RequestError } from '../errors.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';
import type { Awaitable } from '../protocol/waiting.js';
import type { ManagedStore } from './callback-store.js';
import type { StoredPayment } from './stored-payment.js';

/** The second argument of {@link PaymentStore.record}. */
export interface RecordContext<Tx> {
  /** Your own open transaction, or the `tx` that the store passed to your work. */
  tx: Tx;
  /** Fields that the interface does not document, sent in addition to the three. */
  extraBody?: Record<string, unknown> | undefined;
}

/** What was found out about an unresolved payment. */
export type Resolution =
  | {
      /** It exists at the service. */
      created: {
        /** The service's identifier of the payment. */
        referenceNumber: string;
      };
    }
  | 'not-created';

/** The payment on which a person's decision is based: the one that `attention()` listed before it was looked up. */
export interface SeenPayment {
  /** Its `attempts` when it was looked up at the service. A whole number from 0. */
  attempts: number;
}

/** Options of {@link PaymentStore.recover}. */
export interface RecoverOptions {
  /**
   * Looks an unresolved payment up at the service. Return its `referenceNumber`, or `'not-created'` if the service
   * certainly has no payment for this reference, which is then sent again, or nothing if you can't tell. It is called
   * only once the last attempt can no longer create the payment, and has a minute. If it throws, its payment stays
   * unresolved, and the others are recovered.
   */
  lookUp?(
    merchantPaymentReference: string,
  ): Awaitable<Pick<PaymentStatusRecord, 'referenceNumber'> | 'not-created' | undefined>;
}

/** The result of {@link PaymentStore.recover}. */
export interface Recovery {
  /** How many payments were sent. */
  resent: number;
  /**
   * How many are `unresolved`: their process died while sending, this call received no answer, or the service refused
   * what was sent again.
   */
  unresolved: number;
  /** How many unresolved payments `lookUp` has found at the service; absent if none. */
  found?: number | undefined;
  /** How many of the sent payments the service refused, which are now `rejected`; absent if none. */
  rejected?: number | undefined;
  /**
   * Why it ended early. The service could not be reached, did not answer, or answered with 5xx, 429, or with 403, 404
   * or 405, which a wrong address or a firewall returns for every payment. The other payments stay recorded. Or the
   * first 4xx without an error code, which a proxy may have sent: its payment stays recorded, and the others are tried
   * one at a time.
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
   * Called when `recover` fails, and awaited for two seconds. What it throws is ignored.
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
 * A store that also creates payments, so that no order gets two of them, across crashes and on any number of
 * instances (interface section 4.1 promises nothing for a creation that is sent twice).
 *
 * A payment is stored before it is sent. Only one caller at a time sends a `merchantPaymentReference`
 * and, once the payment may exist at the service, the store does not send it again. Its callback settles it, whenever
 * the callback comes.
 *
 * `Tx` is what the work of a callback gets, `Taken` what `record` accepts: with an ORM that has several kinds of
 * transactions, such as Kysely, any of them.
 */
export interface PaymentStore<Tx = undefined, Taken = Tx> extends ManagedStore<Tx> {
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
  create(input: CreatePaymentInput, options?: RequestOptions): Promise<StoredPayment>;
  /**
   * Stores the payment in your own transaction, and sends nothing: order and payment are stored together or
   * not at all. Call {@link send} after the commit; after a crash, {@link recover} sends it. Called
   * again for the same payment, it changes nothing, except that a rejected payment becomes `recorded` again.
   *
   * @throws {InvalidRequestError} when the input is invalid
   * @throws {InvalidOptionError} with a database server, when `tx` is missing or not an open transaction
   * @throws {StoreError} `REFERENCE_CONFLICT` when another payment is stored under this reference
   */
  record(input: CreatePaymentInput, context: RecordContext<Taken>): Promise<void>;
  /**
   * Sends a recorded payment: like {@link create}, for a payment that is already stored.
   *
   * @throws {StoreError} `UNKNOWN_REFERENCE` when nothing is stored under this reference
   */
  send(merchantPaymentReference: string, options?: RequestOptions): Promise<StoredPayment>;
  /** Resolves with what is stored under a reference, for example for the page to which the customer returns. */
  get(merchantPaymentReference: string): Promise<StoredPayment | undefined>;
  /**
   * Resolves a payment by hand, after someone has looked it up at the service. With `'not-created'`, the payment
   * becomes `rejected`: `create` or `send` sends it again, {@link recover} does not.
   *
   * `seen` names what the decision is based on: a decision about an earlier attempt says nothing about a later one.
   * For `'not-created'`, look the payment up once `attention()` lists it. Before, its request may still arrive, after you
   * have looked.
   *
   * @throws {InvalidOptionError} when the reference, the resolution or `seen.attempts` is invalid
   * @throws {StoreError} `UNKNOWN_REFERENCE`. `STATE_CHANGED`, with nothing changed, when the payment is not
   * unresolved or has other attempts, and for `'not-created'` while the last attempt may still create the payment
   * (until its lease ends)
   */
  resolve(merchantPaymentReference: string, as: Resolution, seen: SeenPayment): Promise<void>;
  /**
   * Cleans up after crashes: payments whose process died while sending become `unresolved`, and recorded
   * payments are sent. With `lookUp`, unresolved payments are looked up at the service. If the
   * client has `idempotency`, they are sent again instead, once the last attempt can no longer create the payment. What
   * the service then refuses stays unresolved, and is looked up from then on. Any number of processes may call it at any time. If the
   * service would fail every payment alike (`error`), the other payments wait for the next call.
   *
   * @throws {ApiError} for a 401; the payments stay recorded
   * @throws {SecretUnavailableError} when the client's credentials can't be read
   * @throws {StoreError} when the store fails
   * @throws what `lookUp` has thrown first, after all else was recovered; its payment stays unresolved
   */
  recover(options?: RecoverOptions): Promise<Recovery>;
  /**
   * Calls {@link recover} now and every `everyMs`, until it is stopped. It does not keep the process alive.
   *
   * @throws {InvalidOptionError} when an option is invalid
   */
  startRecovery(options?: RecoveryOptions): RunningRecovery;
}
