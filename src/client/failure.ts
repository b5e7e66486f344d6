import {
  ApiError,
  ConnectionError,
  InvalidCredentialsError,
  type MerchantPaymentsError,
  RequestAbortedError,
  type RequestOutcome,
  RequestTimeoutError,
  ResponseError,
} from '../errors.js';
import type { Credentials } from './credentials.js';
import type { Deadline, GiveUpReason } from './deadline.js';
import { parseBody } from './response.js';
import { parseRetryAfter } from './retry.js';
import { findErrorCode } from './transport/error-code.js';
import type {
  Answer,
  BodyFailure,
  Exchange,
  Failure,
  PreparedRequest,
} from './transport/transport.js';

export interface FailureContext {
  readonly request: PreparedRequest;
  readonly credentials: Credentials;
  readonly deadline: Deadline;
}

/** What is known after an exchange; nothing when it was a success. */
export function outcomeOf(exchange: Exchange): RequestOutcome | undefined {
  if (exchange.kind === 'failure') return exchange.sent ? 'unknown' : 'not-sent';
  const { status, bodyFailure } = exchange;
  if (status >= 200 && status < 300) return bodyFailure === undefined ? undefined : 'accepted';
  return status >= 300 && status < 500 ? 'rejected' : 'unknown';
}

/** The one place where an exchange that failed becomes an error. */
export function toError(
  exchange: Exchange,
  outcome: RequestOutcome,
  context: FailureContext,
): MerchantPaymentsError {
  if (exchange.kind === 'failure') return failureToError(exchange, outcome, context);
  const { gaveUp } = context.deadline;
  // The caller has gone: what the service answered is of no use to it.
  if (exchange.bodyFailure?.reason === 'given-up' && gaveUp === 'aborted') {
    return givenUpError(gaveUp, outcome, context);
  }
  return outcomeOf(exchange) === 'accepted'
    ? unusableAnswerError(exchange, outcome, context)
    : apiError(exchange, outcome, context);
}

function failureToError(
  { sent, reason, cause }: Failure,
  requestOutcome: RequestOutcome,
  context: FailureContext,
): MerchantPaymentsError {
  if (reason === 'given-up') {
    return givenUpError(context.deadline.gaveUp as GiveUpReason, requestOutcome, context);
  }
  const details = { requestOutcome, cause: scrubCause(cause, context) };
  const call = describeCall(context);
  const code = readCauseCode(cause, context);
  const because = code === undefined ? '' : ` (${code})`;
  if (reason === 'unusable') {
    return new ResponseError(
      `${call} got an answer that is not HTTP${because}; see what stands between this machine and the service. ${advice[requestOutcome]}`,
      details,
    );
  }
  return new ConnectionError(
    `${call} ${sent ? 'lost its connection before an answer came' : 'got no connection'}${because}. ${advice[requestOutcome]}`,
    details,
  );
}

/** The error of a call that ended by its deadline or its caller's signal. */
export function givenUpError(
  reason: GiveUpReason,
  requestOutcome: RequestOutcome,
  context: FailureContext,
): MerchantPaymentsError {
  const call = describeCall(context);
  if (reason === 'aborted') {
    return new RequestAbortedError(`${call} was aborted by its signal. ${advice[requestOutcome]}`, {
      requestOutcome,
    });
  }
  return new RequestTimeoutError(
    `${call} did not end within ${context.deadline.timeoutMs} ms. ${advice[requestOutcome]}`,
    { requestOutcome },
  );
}

function unusableAnswerError(
  { status, bodyFailure }: Answer,
  requestOutcome: RequestOutcome,
  context: FailureContext,
): MerchantPaymentsError {
  // An answer with a 2xx is unusable for its body alone.
  const { reason, cause } = bodyFailure as BodyFailure;
  if (reason === 'given-up') {
    return givenUpError(context.deadline.gaveUp as GiveUpReason, requestOutcome, context);
  }
  const what =
    reason === 'too-large' ? 'a body larger than maxResponseBytes' : 'a body that broke off';
  return new ResponseError(
    `${describeCall(context)} was answered with ${status}, but with ${what}. ${advice[requestOutcome]}`,
    { requestOutcome, cause: scrubCause(cause, context) },
  );
}

function apiError(
  answer: Answer,
  requestOutcome: RequestOutcome,
  context: FailureContext,
): ApiError {
  const { status, headers, bodyFailure } = answer;
  const told = readErrorBody(answer, context);
  const details = {
    httpStatus: status,
    code: status === 401 ? 'INVALID_CREDENTIALS' : (told.code ?? 'API_ERROR'),
    requestId: told.requestId,
    retryAfterSeconds: parseRetryAfter(headers['retry-after'], Date.now()),
    requestOutcome,
    cause: scrubCause(bodyFailure?.cause, context),
  };
  const named = [told.code, told.message].filter((part) => part !== undefined).join(': ');
  const said = named === '' ? '' : ` (${named})`;
  const remedy = statusRemedy(status);
  const message = `${describeCall(context)} was answered with ${status}${said}. ${remedy}${advice[requestOutcome]}`;
  return status === 401
    ? new InvalidCredentialsError(message, details)
    : new ApiError(message, details);
}

function statusRemedy(status: number): string {
  if (status === 401) return 'Check apiKey and apiSecret. ';
  if (status < 400) return 'Redirects are not followed: check baseUrl. ';
  return '';
}

interface ErrorBody {
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly requestId: string | undefined;
}

const CODE = /^[A-Za-z0-9_.:-]{1,64}$/;
const MAX_MESSAGE_LENGTH = 300;
const MAX_REQUEST_ID_LENGTH = 128;

/** The error body of interface section 7, as far as it is one, fit to be logged. */
function readErrorBody({ body, headers, bodyFailure }: Answer, context: FailureContext): ErrorBody {
  const value = bodyFailure === undefined ? parseBody(body, headers) : undefined;
  const fields = (typeof value === 'object' ? value : undefined) as
    | { code?: unknown; message?: unknown; requestId?: unknown }
    | null
    | undefined;
  const code = readText(fields?.code, MAX_MESSAGE_LENGTH, context);
  return {
    code: code?.match(CODE)?.[0],
    message: readText(fields?.message, MAX_MESSAGE_LENGTH, context),
    requestId: readRequestId(fields, context),
  };
}

/** The service's identifier of a request, in the body of any answer, fit to be logged. */
export function readRequestId(body: unknown, context: FailureContext): string | undefined {
  const { requestId } = (body ?? {}) as { requestId?: unknown };
  return readText(requestId, MAX_REQUEST_ID_LENGTH, context);
}

function readText(
  field: unknown,
  maxLength: number,
  { credentials, request }: FailureContext,
): string | undefined {
  if (typeof field !== 'string') return undefined;
  // Redacted before it is cut: half a secret is one too.
  const text = credentials.redact(field, request.body).replaceAll(UNPRINTABLE, ' ').trim();
  if (text === '') return undefined;
  return text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
}

// Line breaks and terminal escapes would let an answer write log lines of its own.
const UNPRINTABLE = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

const advice: Readonly<Record<RequestOutcome, string>> = {
  'not-sent': 'Nothing was sent: it is safe to try again.',
  rejected: 'The service did not accept the request.',
  accepted: 'The service accepted the request: do not send it again.',
  unknown:
    'The service may have processed the request: do not send it again blindly, its callback will tell.',
};

function describeCall({ request }: FailureContext): string {
  return `${request.method} ${request.path}`;
}

// A fetch of the user's can set any code; a real one is a word.
function readCauseCode(
  cause: unknown,
  { credentials, request }: FailureContext,
): string | undefined {
  const code = findErrorCode(cause);
  return code !== undefined && CODE.test(code) ? credentials.redact(code, request.body) : undefined;
}

/**
 * A stand-in for the error below: its code and, where it has one, its text without secrets. The error itself
 * stays out, since it can carry the request, and fetch quotes header values in its texts.
 */
function scrubCause(cause: unknown, context: FailureContext): Error | undefined {
  const { credentials, request } = context;
  if (cause === undefined || cause === null) return undefined;
  const code = readCauseCode(cause, context);
  const text = cause instanceof Error && code !== undefined ? cause.message : '';
  const scrubbed = new Error(credentials.redact(text, request.body) || 'unknown cause');
  // Its own stack would show this function, not where the failure arose.
  delete scrubbed.stack;
  return code === undefined ? scrubbed : Object.assign(scrubbed, { code });
}
