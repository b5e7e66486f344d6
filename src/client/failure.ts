import {
  ApiError,
  ConnectionError,
  InvalidCredentialsError,
  type MerchantPaymentsError,
  RequestAbortedError,
  type RequestOutcome,
  RequestTimeoutError,
  ResponseError,
  type ServiceResponse,
} from '../errors.js';
import { REDACTED } from '../protocol/redaction.js';
import type { Credentials } from './credentials.js';
import type { Deadline, GiveUpReason } from './deadline.js';
import { CODE, readErrorBody, readTexts, shorten } from './error-body.js';
import { type CallOutcome, parseRetryAfter } from './retry.js';
import { findErrorCode, findErrorText } from './transport/socket-errors.js';
import type {
  Answer,
  BodyFailure,
  Exchange,
  Failure,
  PreparedRequest,
} from './transport/transport.js';

export interface FailureContext extends CallContext {
  readonly request: PreparedRequest;
  readonly credentials: Credentials;
}

interface CallContext {
  readonly request: Pick<PreparedRequest, 'method' | 'path' | 'safe'>;
  readonly deadline: Deadline;
}

/** The outcome that an exchange leaves; undefined after a success. */
export function outcomeOf(exchange: Exchange): RequestOutcome | undefined {
  if (exchange.kind === 'failure') return exchange.sent ? 'unknown' : 'not-sent';
  const { status, bodyFailure, isPage } = exchange;
  if (isSuccess(status)) {
    // Something other than the service answered, and the request may have reached the service.
    if (isPage) return 'unknown';
    return bodyFailure === undefined ? undefined : 'accepted';
  }
  // A redirect may follow success, for example to a checkout page. 408 and 499 may come from a proxy
  // that stopped waiting while the service carried on.
  const isRefusal = status >= 400 && status < 500 && status !== 408 && status !== 499;
  return isRefusal ? 'rejected' : 'unknown';
}

const isSuccess = (status: number): boolean => status >= 200 && status < 300;

/**
 * Turns a failed exchange into an error. The only place that does.
 *
 * @param response the answer as the caller gets it, if there was one
 */
export function toError(
  exchange: Exchange,
  response: ServiceResponse | undefined,
  outcome: CallOutcome,
  context: FailureContext,
): MerchantPaymentsError {
  if (exchange.kind === 'failure') return failureToError(exchange, outcome, context);
  const { gaveUp } = context.deadline;
  const wasGivenUp = exchange.bodyFailure?.reason === 'given-up';
  // An error that was received in part is still reported after the deadline; an aborted caller wants no answer.
  if (wasGivenUp && (gaveUp === 'aborted' || isSuccess(exchange.status))) {
    return givenUpError(gaveUp as GiveUpReason, outcome, context);
  }
  const answered = response as ServiceResponse;
  return isSuccess(exchange.status)
    ? unusableAnswerError(exchange, answered, outcome, context)
    : apiError(exchange, answered, outcome, context);
}

/** How to fix a connection that failed with this code of Node; follows the code in a message. */
function remedyFor(code: string, message: string): string {
  switch (code) {
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `, since the certificate is for another name: ${message}; check the host of the base URL or the proxy`;
    case 'DEPTH_ZERO_SELF_SIGNED_CERT':
    case 'SELF_SIGNED_CERT_IN_CHAIN':
    case 'UNABLE_TO_GET_ISSUER_CERT_LOCALLY':
    case 'UNABLE_TO_VERIFY_LEAF_SIGNATURE':
      return ', since Node trusts no CA that signed the certificate; if it is your own CA, name its file in NODE_EXTRA_CA_CERTS';
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'ERR_SSL_PACKET_LENGTH_TOO_LONG':
      return ', since the server does not speak TLS at this port; check the port, and whether the base URL should begin with http:';
    case 'OLD_UNDICI':
      return ', since undici is older than 7 (a dispatcher of Node before 24, or overrides in package.json); use undici 7 or 8';
    default:
      return '';
  }
}

function failureToError(
  { sent, reason, cause }: Failure,
  outcome: CallOutcome,
  context: FailureContext,
): MerchantPaymentsError {
  if (reason === 'given-up') {
    return givenUpError(context.deadline.gaveUp as GiveUpReason, outcome, context);
  }
  const scrubbed = scrubCause(cause, context);
  const details = { ...outcome, cause: scrubbed };
  const { code, message = '' } = scrubbed ?? {};
  const because = code === undefined ? '' : ` (${code})${remedyFor(code, message)}`;
  if (reason === 'unusable') {
    const what = `got an answer that is not HTTP${because}; check proxies`;
    return new ResponseError(describeCall(context, what, outcome), details);
  }
  const what =
    scrubbed === undefined || code !== undefined
      ? `${sent ? 'lost its connection before an answer' : 'got no connection'}${because}`
      : // Not of a socket: a mistake in a fetch or an interceptor, for example.
        `failed before ${sent ? 'an answer' : 'it was sent'} (${scrubbed.name}: ${message})`;
  return new ConnectionError(describeCall(context, what, outcome), details);
}

/** The error of a call that ended by its deadline or its caller's signal. */
export function givenUpError(
  reason: GiveUpReason,
  outcome: CallOutcome,
  context: CallContext,
  because = '',
): MerchantPaymentsError {
  if (reason === 'aborted') {
    const what = 'was aborted by its signal';
    return new RequestAbortedError(describeCall(context, what, outcome), outcome);
  }
  const what = `did not end within ${context.deadline.timeoutMs} ms${because}`;
  return new RequestTimeoutError(describeCall(context, what, outcome), outcome);
}

/** The error of a call that ended before anything was sent. */
export function notSentError(context: CallContext, because?: string): MerchantPaymentsError {
  const outcome = { requestOutcome: 'not-sent', safeToRetry: true } as const;
  return givenUpError(context.deadline.gaveUp as GiveUpReason, outcome, context, because);
}

const bodyFailures: Readonly<Record<BodyFailure['reason'], string>> = {
  'given-up': 'a body that took too long',
  lost: 'a body that broke off',
  'too-large': 'a body larger than maxResponseBytes',
  encoded: 'a body in an unknown content-encoding, although the request asked for identity',
  used: 'a body that was read before; fetch must return a new Response for each request',
};

function unusableAnswerError(
  { status, bodyFailure, isPage }: Answer,
  response: ServiceResponse,
  outcome: CallOutcome,
  context: FailureContext,
): MerchantPaymentsError {
  // Only its body can make a 2xx unusable.
  const body = isPage
    ? 'a page of HTML; check baseUrl'
    : bodyFailures[bodyFailure?.reason as BodyFailure['reason']];
  const message = describeCall(context, `was answered with ${status}, but with ${body}`, outcome);
  const cause = scrubCause(bodyFailure?.cause, context);
  return new ResponseError(message, { ...outcome, response, cause });
}

function apiError(
  { status, headers, bodyFailure }: Answer,
  response: ServiceResponse,
  outcome: CallOutcome,
  context: FailureContext,
): ApiError {
  const { message: said, ...identified } = readErrorBody(response, context);
  const wait = parseRetryAfter(headers, Date.now());
  const details = {
    response,
    ...identified,
    retryAfterSeconds: wait === undefined ? undefined : Math.ceil(wait),
    ...outcome,
    cause: scrubCause(bodyFailure?.cause, context),
  };
  const named = [identified.serviceCode, said].filter((part) => part !== undefined).join(': ');
  const what = `was answered with ${status}${named && ` (${named})`}`;
  const remedy = statusRemedy(status, identified.serviceCode, context.request.safe);
  const message = describeCall(context, what, outcome, remedy);
  return status === 401
    ? new InvalidCredentialsError(`${message} ${PAGE}`, details)
    : new ApiError(message, details);
}

function statusRemedy(status: number, code: string | undefined, isSafe: boolean): string {
  if (status === 401) return 'Check apiKey and apiSecret.';
  if (status < 400) return 'Redirects are not followed: check baseUrl.';
  const isElsewhere = [404, 405].includes(status) && code === undefined;
  if (isElsewhere) return 'Check baseUrl: the answer has no error code of the service.';
  if (status === 409 && !isSafe) return 'An earlier attempt may have created the payment.';
  return '';
}

/** What to do next, for the end of a message; empty where a safe method leaves no doubt. */
export function advise(
  { requestOutcome, safeToRetry }: CallOutcome,
  { request }: Pick<CallContext, 'request'>,
): string {
  if (requestOutcome === 'not-sent') return 'Nothing was sent: it is safe to try again.';
  if (requestOutcome === 'rejected') {
    const refusal = 'The service did not accept the request.';
    return safeToRetry ? `${refusal} It is safe to try again later.` : refusal;
  }
  if (request.safe) {
    return safeToRetry ? `${request.method} creates nothing: it is safe to try again.` : '';
  }
  return requestOutcome === 'accepted'
    ? 'The service accepted the request: do not send it again.'
    : 'The service may have processed the request: do not send it again; wait for its callback.';
}

export const joinSentences = (...sentences: string[]): string =>
  sentences.filter((sentence) => sentence !== '').join(' ');

/** Where what to do is described, in the package and on the site. */
export const PAGE = '(docs/errors.md#calls)';

/** What became of a call, and what to do. A refusal or a safe method leaves no doubt, and needs no page. */
function describeCall(
  context: CallContext,
  what: string,
  outcome: CallOutcome,
  remedy = '',
): string {
  const { method, path, safe } = context.request;
  const page = safe || outcome.requestOutcome === 'rejected' ? '' : PAGE;
  return joinSentences(`${method} ${path} ${what}.`, remedy, advise(outcome, context), page);
}

type ScrubbedCause = Error & { code?: string };

const MAX_CAUSE_LENGTH = 500;

/**
 * A stand-in for the underlying error: its code, or else its class, and its text without secrets. Not the error
 * itself, which can carry the request; fetch even quotes header values in its messages.
 */
function scrubCause(cause: unknown, context: FailureContext): ScrubbedCause | undefined {
  if (cause === undefined || cause === null) return undefined;
  const found = findErrorCode(cause);
  // A user's fetch can set any value as code; a real code is a word.
  const code = found !== undefined && CODE.test(found) ? found : undefined;
  const { name } = cause as { name?: unknown };
  const label = code ?? (typeof name === 'string' && CLASS_NAME.test(name) ? name : 'Error');
  const [text = '', shownLabel = ''] = readTexts([findErrorText(cause), label], context);
  const hidden = hideValues(text, context.request.headers);
  const scrubbed = new Error(shorten(hidden, MAX_CAUSE_LENGTH) || 'unknown cause');
  // Its stack would point here, not to where the failure arose.
  delete scrubbed.stack;
  return code === undefined
    ? Object.defineProperty(scrubbed, 'name', { value: shownLabel })
    : Object.assign(scrubbed, { code: shownLabel });
}

const CLASS_NAME = /^[A-Za-z]\w{0,63}$/;

// Shorter ones are ordinary words, such as a language.
const MIN_HIDDEN_LENGTH = 8;

function hideValues(text: string, headers: PreparedRequest['headers']): string {
  const values = Object.values(headers).filter(({ length }) => length >= MIN_HIDDEN_LENGTH);
  return values.reduce((left, value) => left.replaceAll(value, REDACTED), text);
}
