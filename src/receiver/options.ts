import {
  type SigningSecret,
  type VerifiedCallback,
  type VerifyCallbackOptions,
  verifierRules,
} from '../callback/options.js';
import {
  type CallbackVerificationError,
  InvalidOptionError,
  type RetryLaterError,
} from '../errors.js';
import { type Logger, loggerRule } from '../protocol/logger.js';
import {
  boolean,
  func,
  type OptionRules,
  optional,
  type Rule,
  resolveOptions,
  timerMs,
  wholeNumber,
  withDefault,
  withMethods,
} from '../protocol/options.js';
import type { Awaitable } from '../protocol/waiting.js';
import type { CallbackStore, StoreContext } from '../store/callback-store.js';
import { memoryCallbacks } from '../store/memory-callbacks.js';
import { keepsFailures } from './kept-failures.js';
import { createRejectionLog, reportToConsole } from './report.js';

// A list of promises is no result of a function that is called for its effect: it would not be awaited.
type Settled = Awaitable<void> | PromiseLike<unknown>;

/**
 * Options of a receiver and of every adapter. `Tx` is the store's transaction, `Fields` are the fields of a
 * record that `recordSchema` accepts.
 */
export interface CallbackReceiverOptions<Tx = undefined, Fields = unknown>
  extends Omit<VerifyCallbackOptions<Fields>, 'signingSecret' | 'receivedAt'> {
  /**
   * The merchant account's signing secret, or several during a rotation. A function is called for every
   * callback, so that a secret can change without a restart: cache one that is slow to fetch. If it throws or
   * takes more than 10 s (`SECRET_UNAVAILABLE`), or returns an invalid secret, the reply is 500.
   * @default MERCHANT_PAYMENTS_SIGNING_SECRET in the environment, read when the first callback arrives; without it the
   * reply is 500, of which the handler warns once when it is created
   */
  signingSecret?:
    | SigningSecret
    | readonly SigningSecret[]
    | (() => Awaitable<SigningSecret | readonly SigningSecret[]>)
    | undefined;
  /**
   * Your function, called once for each status change. When it returns, the change is recorded as processed
   * and the service gets a 200; when it throws, the service gets a 500 and retries. A {@link RetryLaterError}
   * asks the service to retry (503); it is reported to `onError` only if the change is older than ten minutes.
   * If your work is asynchronous, return its promise, so that it is awaited before the 200.
   */
  onPayment(callback: VerifiedCallback<NoInfer<Fields>>, context: StoreContext<Tx>): Settled;
  /**
   * How long `onPayment` may take, in milliseconds: a whole number from 1 to 2147483647. After that the
   * signal aborts, the service gets a 500, and `onError` gets a `StoreError` `WORK_TIMEOUT`. Work that does
   * not stop keeps its payment busy until it ends; if it then fails, `onError` gets that error too.
   * @default 60_000
   */
  onPaymentTimeoutMs?: number | undefined;
  /**
   * The store that remembers processed changes and, if it also creates your payments, settles them: each callback
   * settles its payment in the change's own transaction, whatever becomes of `onPayment`.
   * @default memoryStore(), which serves one process
   */
  store?: CallbackStore<Tx> | undefined;
  /**
   * After how many failures a change is parked, a whole number from 1. The last failure is answered 200
   * (outcome `failed`), so the service stops retrying; `onError` gets the error itself, then a `StoreError`
   * `CHANGE_PARKED`. The store keeps the change, and further deliveries of it are answered 200 without
   * calling `onPayment`; `replay` runs it. Needs a store that keeps failures: memory, SQLite, Postgres or
   * MySQL. A {@link RetryLaterError} does not count as a failure.
   * @default changes are never parked: every failure is answered 500
   */
  parkAfter?: number | undefined;
  /**
   * The largest accepted body, in bytes: a whole number from 1. A larger one is answered 413, and reported to
   * `onRejected`.
   * @default 65_536
   */
  maxBodyBytes?: number | undefined;
  /**
   * Called with every error that needs a person: one thrown by `onPayment`, the store or `recordSchema`; an authentic
   * callback that is not a status record; and once a minute for each code what any request shows, such as a body that was
   * read too early, or a secret that is missing. Callbacks that fail verification go to `onRejected` instead. A promise
   * is awaited before the reply, for at most two seconds. What it throws is ignored.
   * @default logs message and stack to console.error, without the fields that drivers add to their errors
   */
  onError?: ((error: unknown, callback?: VerifiedCallback) => Settled) | undefined;
  /**
   * Called with the reason for every callback that fails verification, or whose body is too large, too slow
   * or incomplete. Anyone can send those, so limit what it writes. A promise is not awaited. What it throws is ignored.
   * @default console.warn, at most once a minute for each code; nothing if there is a `logger`
   */
  onRejected?: ((error: CallbackVerificationError) => unknown) | undefined;
  /**
   * Logs a line for every callback, to pino or console for example. The level is `debug` if the change was processed, now
   * or earlier, `info` if the service is asked to retry, `error` if it failed. A rejected callback is logged
   * at `warn`, at most once a minute for each code, with the number `skipped` since, and otherwise at
   * `debug`. Lines at `warn` and `error` have both references of a verified callback. No line has a body, a header or
   * an error's message: `onError` gets the errors.
   */
  logger?: Logger | undefined;
  /**
   * Whether the answer to a callback that was not processed has a body with the error's code and the reason, for
   * development: the mock shows it. The code of another package's error is `PROCESSING_FAILED`, with its name alone. No
   * secret is in it, but it tells a stranger why a forged callback failed, so leave it off in production.
   * @default false, when no answer says more than its status
   */
  explainAnswers?: boolean | undefined;
}

type Handler<Name extends keyof CallbackReceiverOptions> = NonNullable<
  CallbackReceiverOptions<unknown>[Name]
>;

const receiverRules = {
  ...verifierRules,
  onPayment: func<Handler<'onPayment'>>('that handles one payment callback'),
  onPaymentTimeoutMs: withDefault(60_000, timerMs()),
  store: optional(
    withMethods<CallbackStore<unknown>>(
      'a store: memoryStore(), postgresStore(pool), …',
      'process',
    ),
  ),
  parkAfter: optional(wholeNumber({ min: 1, unit: 'failures' })),
  maxBodyBytes: withDefault(65_536, wholeNumber({ min: 1, unit: 'bytes' })),
  onError: withDefault(reportToConsole, func<Handler<'onError'>>('that takes an error')),
  onRejected: optional(func<Handler<'onRejected'>>('that takes an error')),
  logger: optional(loggerRule),
  explainAnswers: withDefault(false, boolean),
} satisfies OptionRules<CallbackReceiverOptions>;

/** A receiver's options, checked and with defaults. */
export type ResolvedReceiverOptions<Tx> = ReturnType<typeof resolveReceiverOptions<Tx>>;

/** @param adapterRules rules for an adapter's additional options */
export function resolveReceiverOptions<Tx>(
  options: CallbackReceiverOptions<Tx>,
  adapterRules: Readonly<Record<string, Rule<unknown>>>,
) {
  const rules = { ...adapterRules, ...receiverRules };
  const resolved = resolveOptions(options, rules as typeof receiverRules, { holds: 'onPayment' });
  const { signingSecret, onPayment, onError, onRejected, parkAfter, logger } = resolved;
  const store = resolved.store ?? memoryCallbacks();
  if (parkAfter !== undefined && !keepsFailures(store)) {
    const message =
      'parkAfter needs a store that keeps failed changes: postgresStore, mysqlStore, sqliteStore or memoryStore; leave it out, so that the service retries';
    throw new InvalidOptionError('parkAfter', message);
  }
  return Object.freeze({
    ...resolved,
    // Functions are bound to the options, since users may write them as methods that use `this`.
    signingSecret:
      typeof signingSecret === 'function' ? signingSecret.bind(options) : signingSecret,
    store: store as CallbackStore<Tx>,
    onPayment: onPayment.bind(options) as CallbackReceiverOptions<Tx>['onPayment'],
    onError: onError.bind(options),
    onRejected: (onRejected ?? (logger ? () => {} : createRejectionLog())).bind(options),
  });
}
