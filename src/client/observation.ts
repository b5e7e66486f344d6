import { tracingChannel } from 'node:diagnostics_channel';
import type { MerchantPaymentsError, RequestOutcome } from '../errors.js';
import { hasSubscribers } from '../protocol/tracing.js';

/** A logger like pino or console: called with an object of fields, then a sentence. */
export interface Logger {
  /** A request that succeeded. */
  debug(fields: object, message: string): void;
  /** Not called at present. */
  info(fields: object, message: string): void;
  /** A request that failed and will be sent again. */
  warn(fields: object, message: string): void;
  /** A request that failed for good. */
  error(fields: object, message: string): void;
}

/**
 * What the logger and the subscribers of the tracing channel `merchant-payments:request` learn about one
 * request. This list is complete: no body, and no headers.
 */
export interface RequestTrace {
  /** HTTP method, in capital letters. */
  readonly method: string;
  /** Path without its query. */
  readonly path: string;
  /** From 1. */
  readonly attempt: number;
  /** HTTP status, when there was an answer. */
  status?: number;
  /** From sending to the last byte of the answer, in milliseconds. */
  durationMs?: number;
  /** The service's identifier of the request, when its answer has one. */
  requestId?: string;
  /** `accepted` after a success, else the error's `requestOutcome`. */
  outcome?: RequestOutcome;
}

export interface AttemptReport {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly outcome: RequestOutcome;
  /** Nothing after a success. */
  readonly failure: AttemptFailure | undefined;
}

interface AttemptFailure {
  readonly error: MerchantPaymentsError;
  /** Whether the request will be sent again. */
  readonly retried: boolean;
}

const channel = tracingChannel<unknown, RequestTrace>('merchant-payments:request');

/** Whether there is a listener. Without one, an attempt is spared the bookkeeping. */
export function isObserved(logger: Logger | undefined): boolean {
  return logger !== undefined || hasSubscribers(channel);
}

/** Runs one attempt and reports it to the logger and the channel. */
export async function observe<Result>(
  subject: Pick<RequestTrace, 'method' | 'path' | 'attempt'>,
  logger: Logger | undefined,
  run: () => Promise<Result>,
  report: (result: Result) => AttemptReport,
): Promise<Result> {
  const trace: RequestTrace = { ...subject };
  const startedAtMs = performance.now();
  const results: Result[] = [];
  // Returns nothing and throws the scrubbed error, because the channel hands both to subscribers.
  const traced = async (): Promise<void> => {
    const result = await run();
    results.push(result);
    const { status, requestId, outcome, failure } = report(result);
    trace.durationMs = performance.now() - startedAtMs;
    trace.outcome = outcome;
    if (status !== undefined) trace.status = status;
    if (requestId !== undefined) trace.requestId = requestId;
    if (logger !== undefined) log(logger, trace, failure);
    if (failure !== undefined) throw failure.error;
  };
  const failure: unknown = await channel.tracePromise(traced, trace).catch((error) => error);
  const [result] = results;
  if (result === undefined) throw failure;
  return result;
}

function log(logger: Logger, trace: RequestTrace, failure: AttemptFailure | undefined): void {
  // A logger that throws must not turn a created payment into a failure, and one whose promise
  // rejects must not end the process.
  try {
    Promise.resolve(write(logger, trace, failure)).catch(() => {});
  } catch {}
}

function write(logger: Logger, trace: RequestTrace, failure: AttemptFailure | undefined): unknown {
  if (failure === undefined) {
    return logger.debug({ ...trace }, 'merchant-payments: request succeeded');
  }
  const fields = { ...trace, code: failure.error.code };
  return failure.retried
    ? logger.warn(fields, 'merchant-payments: request failed, will retry')
    : logger.error(fields, 'merchant-payments: request failed');
}
