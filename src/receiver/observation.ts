import { CallbackVerificationError, MerchantPaymentsError } from '../errors.js';
import { durationSince, type Logger, referenceFields, writeLine } from '../protocol/logger.js';
import { hasSubscribers, openChannel, runTraced } from '../protocol/tracing.js';
import type { Delivery } from './delivery.js';
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
  /** The `code` of an error of this package that is the reason for a reply other than 200, or for parking the change. */
  code?: string;
  /** With `TIMESTAMP_OUTSIDE_WINDOW`: how many seconds X-Timestamp is behind the clock; negative if it is ahead. */
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

/** What became of a request: its reply, and what the log and the channel tell of it. */
export interface Received {
  readonly reply: CallbackReply;
  /** Once it is verified. */
  readonly delivery?: Delivery;
  /** Why the reply is not 200, or why the change was parked. */
  readonly error?: unknown;
  readonly isOverdue?: boolean;
}

const getChannel = openChannel<CallbackTrace>('merchant-payments:callback');

/** Runs one callback, publishes it to the channel's subscribers and logs it. */
export function observe(
  method: string,
  log: ((trace: CallbackTrace, received: Received) => void) | undefined,
  run: () => Promise<Received>,
): Promise<CallbackReply> {
  const channel = getChannel();
  const isPublished = hasSubscribers(channel);
  if (!isPublished && log === undefined) return run().then(({ reply }) => reply);
  const trace: CallbackTrace = { method };
  const startedAtMs = performance.now();
  const observed = async (): Promise<CallbackReply> => {
    const received = await runTraced(trace, run);
    Object.assign(trace, describe(received), { durationMs: durationSince(startedAtMs) });
    log?.(trace, received);
    return received.reply;
  };
  return isPublished ? channel.tracePromise(observed, trace) : observed();
}

function describe({ reply, delivery, error, isOverdue }: Received): Partial<CallbackTrace> {
  const { status, outcome } = reply;
  const { skewSeconds } = error instanceof CallbackVerificationError ? error : {};
  return {
    ...(delivery && { key: delivery.key }),
    ...(error instanceof MerchantPaymentsError && { code: error.code }),
    ...(skewSeconds !== undefined && { skewSeconds }),
    ...(isOverdue && { overdue: true }),
    status,
    outcome,
  };
}

/** Creates a function that writes a line for each callback, if there is a log. */
export function createCallbackLog(
  logger: Logger | undefined,
): ((trace: CallbackTrace, received: Received) => void) | undefined {
  if (logger === undefined) return undefined;
  const limit = new OnceAMinute();
  return (trace, { delivery, isOverdue }) => {
    const { outcome = 'failed', code = String(trace.status) } = trace;
    const write = (level: keyof Logger, message: string, more?: object): void => {
      const isForPerson = level === 'warn' || level === 'error';
      const named = delivery && isForPerson ? referenceFields(delivery.payment) : {};
      writeLine(logger, level, { fields: { ...trace, ...named, ...more }, message });
    };
    if (outcome !== 'rejected') {
      const [usual, message] = lines[outcome];
      write(isOverdue ? 'warn' : usual, message);
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
