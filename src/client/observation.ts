import type {
  ApiError,
  MerchantPaymentsError,
  RequestOutcome,
  ServiceResponse,
} from '../errors.js';
import { durationSince, type LogContext, referenceFields, writeLine } from '../protocol/logger.js';
import type { OperationName } from '../protocol/operations.js';
import { hasSubscribers, openChannel, runTraced } from '../protocol/tracing.js';
import { readRequestId, type Secrets } from './error-body.js';
import type { Call } from './prepared-request.js';
import type { CallOutcome } from './retry.js';

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
 * This list is complete: no body and no headers. A line at `warn` or `error` also has the `merchantPaymentReference` of a
 * creation.
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

/** What one attempt of a call has led to. */
export interface AttemptResult {
  /** Undefined without a status. */
  readonly response: ServiceResponse | undefined;
  /** After this and all earlier attempts. */
  readonly outcome: CallOutcome;
  /** Undefined after a success. */
  readonly error: MerchantPaymentsError | undefined;
  /** Undefined where the request will not be sent again. */
  readonly retryDelayMs: number | undefined;
}

const calls = openChannel<CallTrace>('merchant-payments:call');
const requests = openChannel<RequestTrace>('merchant-payments:request');

/** What observers learn about a call; undefined if it has no observers. */
export function traceOf(call: Call): CallTrace | undefined {
  const { operation, method, path, client, options } = call;
  const isPublished = hasSubscribers(requests()) || hasSubscribers(calls());
  if (client.logger === undefined && !isPublished) return undefined;
  return {
    operation,
    method,
    path,
    url: client.baseUrl.origin + path,
    attempts: 0,
    ...client.server,
    ...(options?.logContext !== undefined && { context: options.logContext }),
  };
}

export function observeCall<Result>(trace: CallTrace, run: () => Promise<Result>): Promise<Result> {
  const startedAtMs = performance.now();
  return publish(calls(), trace, async () => {
    try {
      const result = await runTraced(trace, run);
      trace.outcome = 'accepted';
      return result;
    } catch (error) {
      const { code, serviceCode, requestOutcome: outcome } = error as ApiError;
      Object.assign(trace, { code, outcome, ...(serviceCode !== undefined && { serviceCode }) });
      throw error;
    } finally {
      trace.durationMs = durationSince(startedAtMs);
    }
  });
}

/** Runs one attempt of a call and reports it to the logger and the channel. */
export async function observeRequest(
  context: Secrets & { readonly call: Call },
  call: CallTrace,
  run: () => Promise<AttemptResult>,
): Promise<AttemptResult> {
  call.attempts += 1;
  const { operation, url, attempts, status, requestId, ...subject } = call;
  const fields: Omit<RequestTrace, 'call'> = { ...subject, attempt: attempts };
  const trace: RequestTrace = { ...fields, call };
  const startedAtMs = performance.now();
  let result: AttemptResult | undefined;
  const running = publish(requests(), trace, async () => {
    result = await run();
    const answered = describeAnswer(result, context);
    const durationMs = durationSince(startedAtMs);
    Object.assign(fields, { durationMs, outcome: result.outcome.requestOutcome, ...answered });
    Object.assign(trace, fields);
    delete call.status;
    delete call.requestId;
    Object.assign(call, answered);
    log(context.call, fields, result);
    if (result.error !== undefined) throw result.error;
  });
  await running.catch((error: unknown) => {
    if (result === undefined) throw error;
  });
  return result as unknown as AttemptResult;
}

/** Only what there is, since subscribers list the keys. */
function describeAnswer({ response }: AttemptResult, context: Secrets) {
  if (response === undefined) return {};
  const { status, body, headers } = response;
  const requestId = readRequestId(body, headers, context);
  return { status, ...(requestId !== undefined && { requestId }) };
}

/** Runs some work and publishes it. Subscribers get its scrubbed error, but not its result. */
async function publish<Trace extends object, Result>(
  channel: ReturnType<ReturnType<typeof openChannel<Trace>>>,
  trace: Trace,
  work: () => Promise<Result>,
): Promise<Result> {
  let result: Result | undefined;
  const run = async () => {
    result = await work();
  };
  await (channel === undefined ? run() : channel.tracePromise(run, trace));
  return result as Result;
}

function log(
  { client: { logger }, merchantPaymentReference }: Call,
  fields: Omit<RequestTrace, 'call'>,
  { error, retryDelayMs }: AttemptResult,
): void {
  if (logger === undefined) return;
  if (error === undefined) {
    writeLine(logger, 'debug', { fields, message: 'request succeeded' });
    return;
  }
  const { code, serviceCode } = error as Partial<ApiError>;
  const coded = { code, ...(serviceCode !== undefined && { serviceCode }) };
  const named = { ...fields, ...referenceFields({ merchantPaymentReference }), ...coded };
  const isLast = retryDelayMs === undefined;
  const message = isLast ? 'request failed' : 'request failed, will retry';
  writeLine(logger, isLast ? 'error' : 'warn', { fields: named, message });
}
