import type { VerifiedCallback } from '../callback/options.js';
import { CallbackVerificationError, MerchantPaymentsError } from '../errors.js';
import {
  debugLogger,
  durationSince,
  type Logger,
  shownReference,
  writeLine,
} from '../protocol/logger.js';
import { hasSubscribers, openChannel, runTraced } from '../protocol/tracing.js';
import type { CallbackOutcome, CallbackReply } from './reply.js';
import { OnceAMinute } from './report.js';

/**
 * All that the logger and the subscribers of the tracing channel `merchant-payments:callback` get for one
 * callback. It has no secret and no header. From the body it has only the change's `key`, which can contain
 * referenceNumber and status, and with `logReferences` the merchant's reference.
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
  /** With `logReferences`, once the callback is verified: the first 256 characters. */
  merchantPaymentReference?: string;
  /** From the request's arrival at the receiver to the reply, in milliseconds. */
  durationMs?: number;
}

const channel = openChannel<CallbackTrace>('merchant-payments:callback');

/** Runs one callback, publishes it to the channel's subscribers and logs it. */
export function observe(
  method: string,
  log: ((trace: CallbackTrace) => void) | undefined,
  run: (trace: CallbackTrace | undefined) => Promise<CallbackReply>,
): Promise<CallbackReply> {
  const published = hasSubscribers(channel) ? channel : undefined;
  if (published === undefined && log === undefined) return run(undefined);
  const trace: CallbackTrace = { method };
  const startedAtMs = performance.now();
  const observed = async (): Promise<CallbackReply> => {
    const reply = await runTraced(trace, () => run(trace));
    trace.status = reply.status;
    trace.outcome = reply.outcome;
    trace.durationMs = durationSince(startedAtMs);
    log?.(trace);
    return reply;
  };
  return published === undefined ? observed() : published.tracePromise(observed, trace);
}

/** Records on the trace which callback it is. */
export function describeCallback(
  trace: CallbackTrace | undefined,
  { key, payment }: VerifiedCallback,
  logReferences: boolean,
): void {
  if (trace === undefined) return;
  trace.key = key;
  Object.assign(trace, shownReference(logReferences, payment.merchantPaymentReference));
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
): ((trace: CallbackTrace) => void) | undefined {
  const logger = given ?? debugLogger;
  if (logger === undefined) return undefined;
  const limit = new OnceAMinute();
  return (trace) => {
    const { outcome, code = String(trace.status) } = trace;
    if (outcome !== 'rejected') {
      const [usual, message] = lines[outcome as keyof typeof lines];
      const level = trace.overdue ? 'warn' : usual;
      writeLine(logger, level, { fields: { ...trace }, message });
      return;
    }
    // Anyone can send these, and they must not flood a log at its usual level.
    const skipped = limit.take(code);
    const level = skipped === undefined ? 'debug' : 'warn';
    const fields = skipped === undefined ? { ...trace } : { ...trace, skipped };
    writeLine(logger, level, { fields, message: 'callback rejected' });
  };
}

const lines = {
  processed: ['debug', 'callback processed'],
  duplicate: ['debug', 'callback was processed before'],
  busy: ['info', 'callback to be retried by the service'],
  failed: ['error', 'callback failed'],
} as const satisfies Record<Exclude<CallbackOutcome, 'rejected'>, readonly [keyof Logger, string]>;
