import {
  resolvePolicy,
  VERIFIER_OPTIONS,
  type VerificationPolicy,
  type VerifiedCallback,
} from '../callback/options.js';
import {
  type CallbackVerificationError,
  InvalidOptionError,
  type RetryLaterError,
} from '../errors.js';
import type { CallbackInbox } from '../inbox/inbox.js';
import { memoryInbox } from '../inbox/memory.js';
import {
  assertFunction,
  assertKnownOptions,
  assertOneOf,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
  type OptionNames,
} from '../protocol/assert-option.js';
import { describeValue } from '../protocol/describe-value.js';
import type { StandardSchemaV1 } from '../protocol/standard-schema.js';
import { createRejectionLog } from './rejection-log.js';
import { reportToConsole } from './report.js';

/** A value, or a promise of it. */
export type Awaitable<Value> = Value | PromiseLike<Value>;

/**
 * What a function that does something returns: nothing, or a promise of any value. Not a list of
 * promises, which nobody would wait for.
 */
export type Settled = Awaitable<void> | PromiseLike<unknown>;

/** What {@link ReceiverOptions.onPayment} is given besides the callback. */
export interface PaymentContext<Tx> {
  /** The inbox's transaction where it has one, as with `postgresInbox`; otherwise `undefined`. */
  tx: Tx;
  /**
   * Aborts when the work is in vain: the service closed the connection, or the inbox lost its lease
   * or its connection. Stop then, by throwing; the service comes again.
   */
  signal: AbortSignal;
  /**
   * Whether a newer change of this payment was processed before. Mirror the status of an order only
   * when this is false; do what must be done once (ship when paid) either way.
   */
  stale: boolean;
}

/**
 * Options of a receiver; those of every adapter too. `Secret` is what the runtime takes as a signing
 * secret, `Fields` what a `recordSchema` takes a record to hold.
 */
export interface ReceiverOptions<Tx, Secret, Fields = unknown> extends VerificationPolicy<Fields> {
  /**
   * The signing secret of the merchant account, or several while rotating. As a function it is asked
   * for every callback, so that a secret can change without a restart: cache what is slow to get. A
   * secret that is unusable, or a function that throws, gives 500.
   */
  signingSecret: Secret | readonly Secret[] | (() => Awaitable<Secret | readonly Secret[]>);
  /**
   * Your part: called once for each status change. When it returns, the change is recorded as
   * processed and the service gets its 200; when it throws, the service gets 500 and comes again.
   * A {@link RetryLaterError} asks the service to retry (503) and is not reported. Return the promise
   * of what is to be done before that.
   */
  onPayment(callback: VerifiedCallback<NoInfer<Fields>>, context: PaymentContext<Tx>): Settled;
  /**
   * How long `onPayment` may take, in milliseconds: a whole number from 1 to 2147483647. Then the
   * signal aborts, the service gets 500, and `onError` an `InboxError` `WORK_TIMEOUT`. What
   * does not stop then keeps its payment busy until it ends; when it fails, `onError` gets that too.
   * @default 60_000
   */
  onPaymentTimeoutMs?: number | undefined;
  /**
   * Where processed changes are remembered.
   * @default memoryInbox(), which serves one process
   */
  inbox?: CallbackInbox<Tx> | undefined;
  /**
   * What to do with a change older than the last one processed for its payment: `process` calls
   * `onPayment` with `stale: true`; `acknowledge` answers 200 without it, and reports an `InboxError`
   * `STALE_CHANGE` to `onError`, once a minute at most.
   * @default 'process'
   */
  onStale?: 'acknowledge' | 'process' | undefined;
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
   * Told of everything that needs a person: what `onPayment`, the inbox, `signingSecret` or
   * `recordSchema` threw; a body that was read too early; an authentic callback that is no status
   * record. Not of callbacks that fail verification: see `onRejected`. A promise is awaited for two
   * seconds at most, before the reply. What it throws itself is ignored.
   * @default console.error, without what drivers add to their errors
   */
  onError?: ((error: unknown, callback?: VerifiedCallback) => Settled) | undefined;
  /**
   * Told of every callback that fails verification, and why. Anybody can send those, so that what it
   * writes must be bounded. What it throws is ignored.
   * @default console.warn, once a minute at most for each code
   */
  onRejected?: ((error: CallbackVerificationError) => void) | undefined;
}

export interface ResolvedReceiverOptions<Tx> {
  readonly onPayment: ReceiverOptions<Tx, unknown>['onPayment'];
  readonly inbox: CallbackInbox<Tx>;
  readonly processStale: boolean;
  readonly maxBodyBytes: number;
  readonly bodyTimeoutMs: number;
  readonly onPaymentTimeoutMs: number;
  readonly onError: NonNullable<ReceiverOptions<Tx, unknown>['onError']>;
  readonly onRejected: NonNullable<ReceiverOptions<Tx, unknown>['onRejected']>;
  /** How callbacks are verified, but for the secret and the schema. */
  readonly policy: VerificationPolicy;
  readonly recordSchema: StandardSchemaV1 | undefined;
}

const RECEIVER_OPTIONS: OptionNames<ReceiverOptions<unknown, unknown>> = {
  ...VERIFIER_OPTIONS,
  onPayment: true,
  onPaymentTimeoutMs: true,
  inbox: true,
  onStale: true,
  maxBodyBytes: true,
  bodyTimeoutMs: true,
  onError: true,
  onRejected: true,
};

/**
 * @param adapterOptions - names of options that an adapter has besides
 * @throws {InvalidOptionError} naming the option
 */
export function resolveReceiverOptions<Tx>(
  options: ReceiverOptions<Tx, unknown>,
  adapterOptions: Readonly<Record<string, true>>,
): ResolvedReceiverOptions<Tx> {
  assertOptionsObject('options', options, 'signingSecret and onPayment');
  assertKnownOptions(options, { ...RECEIVER_OPTIONS, ...adapterOptions });
  const { recordSchema, ...policy } = resolvePolicy(options);
  const {
    onPayment,
    inbox = memoryInbox() as CallbackInbox<Tx>,
    onStale = 'process',
    maxBodyBytes = 65_536,
    bodyTimeoutMs = 10_000,
    onPaymentTimeoutMs = 60_000,
    onError = reportToConsole,
    onRejected = createRejectionLog(),
  } = options;
  assertFunction('onPayment', onPayment, 'that handles one payment callback');
  assertInbox(inbox);
  assertOneOf('onStale', onStale, ['acknowledge', 'process']);
  assertWholeNumber('maxBodyBytes', maxBodyBytes, { min: 1, unit: 'bytes' });
  const milliseconds = { min: 1, max: LONGEST_TIMER_MS, unit: 'milliseconds' };
  assertWholeNumber('bodyTimeoutMs', bodyTimeoutMs, milliseconds);
  assertWholeNumber('onPaymentTimeoutMs', onPaymentTimeoutMs, milliseconds);
  assertFunction('onError', onError, 'that takes an error');
  assertFunction('onRejected', onRejected, 'that takes an error');
  return Object.freeze({
    // Called as methods of the options, as which they were written.
    onPayment: onPayment.bind(options),
    inbox,
    processStale: onStale === 'process',
    maxBodyBytes,
    bodyTimeoutMs,
    onPaymentTimeoutMs,
    onError: onError.bind(options),
    onRejected: onRejected.bind(options),
    policy,
    recordSchema,
  });
}

function assertInbox(inbox: unknown): void {
  if (typeof (inbox as Partial<CallbackInbox> | null)?.process === 'function') return;
  throw new InvalidOptionError(
    'inbox',
    `inbox must be an inbox (memoryInbox(), redisInbox(client), postgresInbox(pool), …), but ${describeValue(inbox)} came`,
  );
}
