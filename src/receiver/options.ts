import type { SigningSecret } from '../callback/options.js';
import {
  type VerifiedCallback,
  type VerifyCallbackOptions,
  verifierRules,
} from '../callback/options.js';
import {
  type CallbackVerificationError,
  InvalidOptionError,
  type RetryLaterError,
} from '../errors.js';
import type { CallbackInbox } from '../inbox/inbox.js';
import { memoryInbox } from '../inbox/memory.js';
import type { PaymentOutbox } from '../outbox/outbox.js';
import { type Logger, loggerRule } from '../protocol/logger.js';
import {
  boolean,
  func,
  matching,
  type OptionRules,
  oneOf,
  optional,
  type Rule,
  resolveOptions,
  timerMs,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import { keepsFailures } from './kept-failures.js';
import { createRejectionLog, reportToConsole } from './report.js';

/** A value, or a promise of it. */
export type Awaitable<Value> = Value | PromiseLike<Value>;

/**
 * What a function that does something returns: nothing, or a promise of any value. Not a list of
 * promises, which would not be awaited.
 */
export type Settled = Awaitable<void> | PromiseLike<unknown>;

/** What {@link CallbackReceiverOptions.onPayment} is given besides the callback. */
export interface PaymentContext<Tx> {
  /** The inbox's transaction where it has one, as with `postgresInbox`; otherwise `undefined`. */
  tx: Tx;
  /**
   * Aborts when the work is in vain: the service closed the connection, `onPaymentTimeoutMs` passed, or
   * the inbox lost its lease or its connection. Stop then, by throwing; the service retries.
   */
  signal: AbortSignal;
  /**
   * Whether a newer change of this payment was processed before. Mirror the status of an order only
   * when this is false; do what must be done once (ship when paid) either way.
   */
  stale: boolean;
  /**
   * Whether the outbox knows another payment for this `merchantPaymentReference`: one of the two is to be
   * refunded. False without an `outbox`.
   */
  secondPayment: boolean;
}

/**
 * Options of a receiver and of every adapter. `Tx` is the inbox's transaction, `Fields` are those of
 * a record that `recordSchema` accepts, `Secret` is what the runtime takes as a signing secret.
 */
export interface CallbackReceiverOptions<Tx = undefined, Fields = unknown, Secret = SigningSecret>
  extends Omit<VerifyCallbackOptions<Fields, Secret>, 'signingSecret'> {
  /**
   * The signing secret of the merchant account, or several during a rotation. A function is called for
   * every callback, so that a secret can change without a restart: cache one that is slow to fetch. An unusable
   * secret gives 500, as does a function that throws or takes more than 10 s (`SECRET_UNAVAILABLE`).
   */
  signingSecret: Secret | readonly Secret[] | (() => Awaitable<Secret | readonly Secret[]>);
  /**
   * Your part: called once for each status change. When it returns, the change is recorded as processed
   * and the service gets its 200; when it throws, the service gets 500 and retries. A
   * {@link RetryLaterError} asks the service to retry (503) and is not reported. Return the promise of
   * what must be done before the 200.
   */
  onPayment(callback: VerifiedCallback<NoInfer<Fields>>, context: PaymentContext<Tx>): Settled;
  /**
   * How long `onPayment` may take, in milliseconds: a whole number from 1 to 2147483647. Then the
   * signal aborts, the service gets 500, and `onError` an `InboxError` `WORK_TIMEOUT`. Work that does not
   * stop keeps its payment busy until it ends; when it fails, `onError` gets that too.
   * @default 60_000
   */
  onPaymentTimeoutMs?: number | undefined;
  /**
   * Where processed changes are remembered.
   * @default memoryInbox(), which serves one process
   */
  inbox?: CallbackInbox<Tx> | undefined;
  /**
   * What sends your payments. Every callback settles its payment there: in the inbox's transaction, before
   * `onPayment`, where both were made from the same pool, connection or provider; else before the inbox.
   * When that fails the service gets 500 and retries.
   */
  outbox?: PaymentOutbox | undefined;
  /**
   * Called with every change of a payment that is the second one for its `merchantPaymentReference`, before
   * `onPayment` and in the same transaction: note that it is to be refunded. When it throws, the service gets
   * 500 and retries. Needs `outbox`.
   * @default an `OutboxError` `SECOND_PAYMENT` to `onError`
   */
  onSecondPayment?(
    callback: VerifiedCallback<NoInfer<Fields>>,
    context: PaymentContext<Tx>,
  ): Settled;
  /**
   * What to do with a change older than the last one processed for its payment: `process` calls
   * `onPayment` with `stale: true`; `acknowledge` answers 200 without it, and reports an `InboxError`
   * `STALE_CHANGE` to `onError`, once a minute at most.
   * @default 'process'
   */
  onStale?: 'acknowledge' | 'process' | undefined;
  /**
   * After how many failures of a change it is parked: a whole number from 1. The last of them is answered
   * 200 (outcome `failed`), so the service stops retrying; `onError` gets an `InboxError` `CHANGE_PARKED`
   * after the error itself. The inbox keeps the change, further deliveries of it are answered 200 without
   * `onPayment`, and `replay` runs it if the inbox has `keepBodies: true`: set that too, or repair a parked
   * change's order by hand. Needs an inbox that keeps failures: memory, SQLite, Postgres or MySQL. A
   * {@link RetryLaterError} is no failure.
   * @default none: a failure is always answered 500
   */
  parkAfter?: number | undefined;
  /**
   * Whether the later changes of a payment wait for its parked one: each is acknowledged and parked
   * without `onPayment`, `onError` gets an `InboxError` `CHANGE_BLOCKED`, and all are replayed in their order.
   * Otherwise they run. Needs `parkAfter`.
   * @default false
   */
  blockParked?: boolean | undefined;
  /**
   * The largest body that is read, in bytes: a whole number from 1. More gives 413.
   * @default 65_536
   */
  maxBodyBytes?: number | undefined;
  /**
   * How long the body may take to arrive, in milliseconds: a whole number from 1 to 2147483647.
   * Longer gives 408.
   * @default 10_000
   */
  bodyTimeoutMs?: number | undefined;
  /**
   * Called with everything that needs a person: what `onPayment`, `onSecondPayment`, the inbox, the
   * outbox, `signingSecret` or `recordSchema` threw; a body that was read too early; an authentic callback
   * that is not a status
   * record. Not with callbacks that fail verification: see `onRejected`. A promise is awaited before the
   * reply, for two seconds at most. What it throws is ignored.
   * @default console.error, without what drivers add to their errors
   */
  onError?: ((error: unknown, callback?: VerifiedCallback) => Settled) | undefined;
  /**
   * Called with the reason for every callback that fails verification. Anybody can send those, so limit
   * what it writes. A promise is not waited for. What it throws is ignored.
   * @default console.warn, once a minute at most for each code; none where there is a `logger`
   */
  onRejected?: ((error: CallbackVerificationError) => unknown) | undefined;
  /**
   * Receives a line for every callback: pino, or console. At `debug` when it was processed, now or before,
   * at `info` when the service is to retry it, at `error` when it failed. One that is rejected is at `warn`
   * once a minute at most for each code, with the number of those `skipped` before, else at `debug`. No
   * bodies, no headers, no texts of errors: `onError` gets those.
   */
  logger?: Logger | undefined;
  /**
   * Whether log lines, channel messages and spans show the `merchantPaymentReference` of verified callbacks.
   * It may name a customer. It never becomes a label of a metric.
   * @default false
   */
  logReferences?: boolean | undefined;
}

type Handler<Name extends 'onPayment' | 'onSecondPayment' | 'onError' | 'onRejected'> = NonNullable<
  CallbackReceiverOptions<unknown>[Name]
>;

const receiverRules = {
  ...verifierRules,
  onPayment: func<Handler<'onPayment'>>('that handles one payment callback'),
  onPaymentTimeoutMs: withDefault(60_000, timerMs()),
  inbox: optional(
    matching<CallbackInbox<unknown>>(
      'an inbox: memoryInbox(), redisInbox(client), postgresInbox(pool), …',
      (inbox: Partial<CallbackInbox> | null) => typeof inbox?.process === 'function',
    ),
  ),
  outbox: optional(
    matching<PaymentOutbox>(
      'an outbox: memoryOutbox({ client }), postgresOutbox(pool, { client }), …',
      (outbox: Partial<PaymentOutbox> | null) => typeof outbox?.settle === 'function',
    ),
  ),
  onSecondPayment: optional(func<Handler<'onSecondPayment'>>('that handles one payment callback')),
  onStale: withDefault('process', oneOf('acknowledge', 'process')),
  parkAfter: optional(wholeNumber({ min: 1, unit: 'failures' })),
  blockParked: withDefault(false, boolean),
  maxBodyBytes: withDefault(65_536, wholeNumber({ min: 1, unit: 'bytes' })),
  bodyTimeoutMs: withDefault(10_000, timerMs()),
  onError: withDefault(reportToConsole, func<Handler<'onError'>>('that takes an error')),
  onRejected: optional(func<Handler<'onRejected'>>('that takes an error')),
  logger: optional(loggerRule),
  logReferences: withDefault(false, boolean),
} satisfies OptionRules<CallbackReceiverOptions>;

/** What is made of the options of a receiver. */
export type ResolvedReceiverOptions<Tx> = ReturnType<typeof resolveReceiverOptions<Tx>>;

/**
 * @param adapterRules the rules of options that an adapter has besides
 * @throws {InvalidOptionError} naming the option
 */
export function resolveReceiverOptions<Tx>(
  options: CallbackReceiverOptions<Tx, unknown, unknown>,
  adapterRules: Readonly<Record<string, Rule<unknown>>>,
) {
  const rules = { ...adapterRules, ...receiverRules };
  const holds = 'signingSecret and onPayment';
  const {
    onPayment,
    onSecondPayment,
    outbox,
    inbox: given,
    onStale,
    onError,
    onRejected,
    ...rest
  } = resolveOptions(options, rules as typeof receiverRules, { holds });
  const inbox = given ?? memoryInbox();
  assertParking(rest, inbox);
  const { toleranceSeconds, signatureEncoding, timestampUnit, now, ...limits } = rest;
  if (onSecondPayment !== undefined && outbox === undefined) {
    const message = 'onSecondPayment requires outbox; pass the outbox that creates your payments';
    throw new InvalidOptionError('onSecondPayment', message);
  }
  return Object.freeze({
    ...limits,
    /** How callbacks are verified, but for the secret and the schema. */
    policy: { toleranceSeconds, signatureEncoding, timestampUnit, now },
    inbox: inbox as CallbackInbox<Tx>,
    outbox,
    onSecondPayment: onSecondPayment?.bind(
      options,
    ) as CallbackReceiverOptions<Tx>['onSecondPayment'],
    processStale: onStale === 'process',
    // As methods of the options, which is how they were written.
    onPayment: onPayment.bind(options) as CallbackReceiverOptions<Tx>['onPayment'],
    onError: onError.bind(options),
    onRejected: (onRejected ?? (rest.logger ? () => {} : createRejectionLog())).bind(options),
  });
}

/** @throws {InvalidOptionError} when a change would be acknowledged that nothing keeps */
function assertParking(
  { parkAfter, blockParked }: { parkAfter: number | undefined; blockParked: boolean },
  inbox: CallbackInbox<unknown>,
): void {
  if (parkAfter !== undefined && !keepsFailures(inbox)) {
    throw new InvalidOptionError(
      'parkAfter',
      'parkAfter needs an inbox that keeps failed changes: postgresInbox, mysqlInbox, sqliteInbox or memoryInbox; leave it out, so that the service retries',
    );
  }
  if (blockParked && parkAfter === undefined) {
    throw new InvalidOptionError(
      'blockParked',
      'blockParked needs parkAfter, without which no change is parked',
    );
  }
}
