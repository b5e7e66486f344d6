import type { VerifiedCallback } from '../callback/options.js';
import { CallbackVerificationError, MerchantPaymentsError } from '../errors.js';
import {
  debugLogger,
  durationSince,
  type Logger,
  referenceFields,
  writeLine,
} from '../protocol/logger.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import { hasSubscribers, openChannel, runTraced } from '../protocol/tracing.js';
import type { CallbackOutcome, CallbackReply } from './reply.js';
import { OnceAMinute } from './report.js';

/**
 * All that the logger and the subscribers of the tracing channel `merchant-payments:callback` get for one
 * callback. It has no secret and no header. From the body it has only the change's `key`, which can contain
 * referenceNumber and status. A line at `warn` or `error` also has both references, once the callback is verified.
 */
export interface CallbackTrace {
  /** The request's method. */
  readonly method: string;
  /** HTTP status of the reply. */
  status?: number;
  /** The result of the request. */
  outcome?: CallbackOutcome;
  /**
   * If an error of this package is the reason for a reply other than 200, or for parking the change: its
   * `code`.
   */
  code?: string;
  /**
   * With `TIMESTAMP_OUTSIDE_WINDOW`: how many seconds X-Timestamp is behind the clock; negative if it is
   * ahead.
   */
  skewSeconds?: number;
  /**
   * Set if the change happened more than ten minutes ago and still waits: for its order, or for its payment, which was
   * busy a minute earlier too.
   */
  overdue?: true;
  /** The key of the status change, once the callback is verified. */
  key?: string;
  /** From the request's arrival at the receiver to the reply, in milliseconds. */
  durationMs?: number;
}

const channel = openChannel<CallbackTrace>('merchant-payments:callback');

/** A callback whose receipt is published or logged. */
export interface Observation {
  readonly trace: CallbackTrace;
  /** Its references, once it is verified: only for lines that a person looks into. */
  references?: Pick<PaymentStatusRecord, 'merchantPaymentReference' | 'referenceNumber'>;
}

/** Runs one callback, publishes it to the channel's subscribers and logs it. */
export function observe(
  method: string,
  log: ((observation: Observation) => void) | undefined,
  run: (observation: Observation | undefined) => Promise<CallbackReply>,
): Promise<CallbackReply> {
  const published = hasSubscribers(channel) ? channel : undefined;
  if (published === undefined && log === undefined) return run(undefined);
  const trace: CallbackTrace = { method };
  const observation: Observation = { trace };
  const startedAtMs = performance.now();
  const observed = async (): Promise<CallbackReply> => {
    const reply = await runTraced(trace, () => run(observation));
    trace.status = reply.status;
    trace.outcome = reply.outcome;
    trace.durationMs = durationSince(startedAtMs);
    log?.(observation);
    return reply;
  };
  return published === undefined ? observed() : published.tracePromise(observed, trace);
}

/** Records which callback it is. */
export function describeCallback(
  observation: Observation | undefined,
  { key, payment: { merchantPaymentReference, referenceNumber } }: VerifiedCallback,
): void {
  if (observation === undefined) return;
  observation.trace.key = key;
  observation.references = { merchantPaymentReference, referenceNumber };
}

/** Records on the trace why the reply is not 200. */
export function describeError(trace: CallbackTrace | undefined, error: unknown): void {
  if (trace === undefined) return;
  if (error instanceof MerchantPaymentsError) trace.code = error.code;
  if (!(error instanceof CallbackVerificationError)) return;
  if (error.skewSeconds !== undefined) trace.skewSeconds = error.skewSeconds;
}

/** Creates a function that writes a line for each callback, if there is a log. */
export function createCallbackLog(
  given: Logger | undefined,
): ((observation: Observation) => void) | undefined {
  const logger = given ?? debugLogger;
  if (logger === undefined) return undefined;
  const limit = new OnceAMinute();
  return ({ trace, references = {} }) => {
    const { outcome, code = String(trace.status) } = trace;
    const write = (level: keyof Logger, message: string, more?: object): void => {
      const named = level === 'warn' || level === 'error' ? referenceFields(references) : {};
      writeLine(logger, level, { fields: { ...trace, ...named, ...more }, message });
    };
    if (outcome !== 'rejected') {
      const [usual, message] = lines[outcome as keyof typeof lines];
      write(trace.overdue ? 'warn' : usual, message);
      return;
    }
    // Anyone can send these, and they must not flood a log at its usual level.
    const skipped = limit.take(code);
    if (skipped === undefined) write('debug', 'callback rejected');
    else write('warn', 'callback rejected', { skipped });
  };
}

const lines = {
  processed: ['debug', 'callback processed'],
  duplicate: ['debug', 'callback was processed before'],
  busy: ['info', 'callback to be retried by the service'],
  failed: ['error', 'callback failed'],
} as const satisfies Record<Exclude<CallbackOutcome, 'rejected'>, readonly [keyof Logger, string]>;
