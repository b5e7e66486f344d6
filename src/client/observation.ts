import { ApiError, MerchantPaymentsError, type RequestOutcome } from '../errors.js';
import type { LogContext } from '../protocol/log-context.js';
import { durationSince, type Logger, writeLine } from '../protocol/logger.js';
import type { OperationName } from '../protocol/operations.js';
import { hasSubscribers, openChannel, runTraced } from '../protocol/tracing.js';

/** What is known about a call from its start. */
export interface CallSubject {
  /** HTTP method, in upper case. */
  readonly method: string;
  /** Path without its query. */
  readonly path: string;
  /** Host of the base URL: a name, or an address without brackets. */
  readonly serverAddress: string;
  /** Port of the base URL. */
  readonly serverPort: number;
  /** Of `payments.create`, where the client has `logReferences`: its first 256 characters. */
  readonly merchantPaymentReference?: string;
  /** The call's `logContext`. */
  readonly context?: LogContext;
}

/**
 * What subscribers of the tracing channel `merchant-payments:call` learn about one call, once its input and
 * options were checked. This list is complete: no body and no headers.
 */
export interface CallTrace extends CallSubject {
  /** The operation that was called. */
  readonly operation: OperationName | 'request';
  /** Where the requests are sent, without the query. */
  readonly url: string;
  /** How many attempts were made so far to send the request. */
  attempts: number;
  /** HTTP status of the last request's answer, if it had one. */
  status?: number;
  /** The service's identifier of the last request, if its answer has one. */
  requestId?: string;
  /** `accepted` after a success, else the error's `requestOutcome`. */
  outcome?: RequestOutcome;
  /** The error's code. */
  code?: string;
  /** The service's own code, if its answer has one. */
  serviceCode?: string;
  /** From the call to its end, in milliseconds. */
  durationMs?: number;
}

/**
 * What the logger and subscribers of the tracing channel `merchant-payments:request` learn about one request.
 * This list is complete: no body and no headers.
 */
export interface RequestTrace extends CallSubject {
  /** From 1. */
  readonly attempt: number;
  /** The call it belongs to: the message of `merchant-payments:call`. Not in log lines. */
  readonly call: CallTrace;
  /** HTTP status, if there was an answer. */
  status?: number;
  /** From sending to the last byte of the answer, in milliseconds. */
  durationMs?: number;
  /** The service's identifier of the request, if its answer has one. */
  requestId?: string;
  /** `accepted` after a success, else the error's `requestOutcome`. */
  outcome?: RequestOutcome;
}

export interface AttemptReport {
  readonly status: number | undefined;
  readonly requestId: string | undefined;
  readonly outcome: RequestOutcome;
  /** Whether a 2xx has a page or broken JSON for a body. */
  readonly isOfAnother: boolean;
  /** Undefined after a success. */
  readonly failure: AttemptFailure | undefined;
}

interface AttemptFailure {
  readonly error: MerchantPaymentsError;
  /** Whether the request will be sent again. */
  readonly retried: boolean;
}

const calls = openChannel<CallTrace>('merchant-payments:call');
const requests = openChannel<RequestTrace>('merchant-payments:request');

/** Whether a call has a listener. Without one, it skips the bookkeeping. */
export function isObserved(logger: Logger | undefined): boolean {
  return logger !== undefined || hasSubscribers(requests) || hasSubscribers(calls);
}

/** Runs one call and publishes it. */
export function observeCall<Result>(trace: CallTrace, run: () => Promise<Result>): Promise<Result> {
  const startedAtMs = performance.now();
  return publish(calls, trace, async (done) => {
    try {
      done(await runTraced(trace, run));
      trace.outcome = 'accepted';
    } catch (error) {
      if (error instanceof MerchantPaymentsError) {
        trace.code = error.code;
        if (error instanceof ApiError && error.serviceCode !== undefined)
          trace.serviceCode = error.serviceCode;
        if (error.requestOutcome !== undefined) trace.outcome = error.requestOutcome;
      }
      throw error;
    } finally {
      trace.durationMs = durationSince(startedAtMs);
    }
  });
}

/** Runs one attempt of a call and reports it to the logger and the channel. */
export function observe<Result>(
  call: CallTrace,
  logger: Logger | undefined,
  run: () => Promise<Result>,
  report: (result: Result) => AttemptReport,
): Promise<Result> {
  call.attempts += 1;
  const trace: RequestTrace = { ...subjectOf(call), attempt: call.attempts, call };
  const startedAtMs = performance.now();
  return publish(requests, trace, async (done) => {
    const result = await run();
    done(result);
    const { status, requestId, outcome, isOfAnother, failure } = report(result);
    trace.durationMs = durationSince(startedAtMs);
    trace.outcome = outcome;
    for (const told of [trace, call]) {
      delete told.status;
      delete told.requestId;
      if (status !== undefined) told.status = status;
      if (requestId !== undefined) told.requestId = requestId;
    }
    if (logger !== undefined) log(logger, trace, failure, isOfAnother);
    if (failure !== undefined) throw failure.error;
  });
}

function subjectOf(call: CallTrace): CallSubject {
  const { method, path, serverAddress, serverPort, merchantPaymentReference, context } = call;
  return {
    method,
    path,
    serverAddress,
    serverPort,
    ...(merchantPaymentReference !== undefined && { merchantPaymentReference }),
    ...(context !== undefined && { context }),
  };
}

/**
 * Runs some work and publishes it. Subscribers get the scrubbed error, but not the result, which the work passes to
 * `done` instead.
 */
async function publish<Trace extends object, Result>(
  channel: ReturnType<typeof openChannel<Trace>>,
  trace: Trace,
  work: (done: (result: Result) => void) => Promise<void>,
): Promise<Result> {
  const results: Result[] = [];
  const run = () => work((result) => void results.push(result));
  const running = channel === undefined ? run() : channel.tracePromise(run, trace);
  const failure: unknown = await running.catch((error) => error);
  if (results.length === 0) throw failure;
  return results[0] as Result;
}

function log(
  logger: Logger,
  trace: RequestTrace,
  failure: AttemptFailure | undefined,
  isOfAnother: boolean,
): void {
  const { call, ...fields } = trace;
  if (failure === undefined) {
    // Only there is JSON certain to be meant.
    if (isOfAnother && call.operation === 'payments.create') {
      const message =
        'request succeeded, but its body is a page or broken JSON; check baseUrl and the proxies before the service';
      writeLine(logger, 'warn', { fields, message });
    } else writeLine(logger, 'debug', { fields, message: 'request succeeded' });
    return;
  }
  const { error } = failure;
  const serviceCode = error instanceof ApiError ? error.serviceCode : undefined;
  const coded = { ...fields, code: error.code, ...(serviceCode !== undefined && { serviceCode }) };
  if (failure.retried) {
    writeLine(logger, 'warn', { fields: coded, message: 'request failed, will retry' });
  } else {
    writeLine(logger, 'error', { fields: coded, message: 'request failed' });
  }
}
