import {
  type CallDetails,
  CallError,
  CodedError,
  type ErrorClass,
  type ErrorDetails,
  type Issue,
  OptionError,
  PackageError,
  type RequestOutcome,
  type ServiceResponse,
  setFields,
} from './error-base.js';
import type { CodeOf } from './error-codes.js';

export type {
  ErrorClass,
  Issue,
  RequestOutcome,
  ResponseHeaders,
  ServiceResponse,
} from './error-base.js';
export type {
  CallbackVerificationErrorCode,
  ErrorCode,
  MockServerErrorCode,
  StoreErrorCode,
} from './error-codes.js';
export { errorCodes } from './error-codes.js';

/**
 * An option is invalid or unknown: `INVALID_OPTION`. Thrown at construction, or by a call for its own
 * options.
 */
export class InvalidOptionError extends OptionError {
  protected static override readonly brand: string = 'merchant-payments.InvalidOptionError';
  readonly code: CodeOf<'InvalidOptionError'> = 'INVALID_OPTION';
}

/** The request is invalid, and nothing was sent: `INVALID_REQUEST`. */
export class InvalidRequestError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.InvalidRequestError';
  readonly code: CodeOf<'InvalidRequestError'> = 'INVALID_REQUEST';
  /** One entry for each invalid field. */
  readonly issues: readonly Issue[];

  /** @internal */
  constructor(issues: readonly Issue[]) {
    const subject = issues[0]?.path.length === 0 ? 'the payment ' : '';
    super(`The request was not sent: ${subject}${describeIssues(issues)}`, {
      requestOutcome: 'not-sent',
    });
    this.issues = issues;
  }
}

interface ApiErrorDetails extends CallDetails {
  readonly response: ServiceResponse;
  readonly serviceCode?: string | undefined;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * The service answered with a status other than 2xx (interface section 7). `requestOutcome` is `rejected` for
 * 4xx other than 408 and 499, otherwise `unknown`.
 */
export class ApiError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.ApiError';
  readonly code: CodeOf<'ApiError' | 'InvalidCredentialsError'> = 'API_ERROR';
  /** The HTTP status of the answer. */
  readonly httpStatus: number;
  /**
   * The service's own code, a number as text: 1 to 64 letters, digits, `_`, `.`, `:` and `-`. Absent if the answer has
   * no such code.
   */
  declare readonly serviceCode?: string;
  /**
   * The service's identifier of the request, of the body or else of the header `x-request-id`, `request-id` or
   * `cf-ray`; its support asks for it.
   */
  declare readonly requestId?: string;
  /** How many seconds to wait, by the answer's `Retry-After`: a whole number from 0, rounded up. */
  declare readonly retryAfterSeconds?: number;
  readonly #response: ServiceResponse;

  /** @internal */
  constructor(message: string, details: ApiErrorDetails) {
    super(message, details);
    this.#response = details.response;
    this.httpStatus = details.response.status;
    const { serviceCode, requestId, retryAfterSeconds } = details;
    setFields<ApiError>(this, { serviceCode, requestId, retryAfterSeconds });
  }

  /**
   * The answer as it was received, with all that the service says. Not printed, and in no JSON or log line, since it may
   * repeat your request or hold personal data.
   */
  get response(): ServiceResponse {
    return this.#response;
  }
}

/** The service refused the API key and secret with 401: `INVALID_CREDENTIALS` (interface section 5.1). */
export class InvalidCredentialsError extends ApiError {
  protected static override readonly brand: string = 'merchant-payments.InvalidCredentialsError';
  override readonly code: CodeOf<'InvalidCredentialsError'> = 'INVALID_CREDENTIALS';
}

/** There was no connection, or it broke before an answer: `CONNECTION_FAILED`. */
export class ConnectionError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.ConnectionError';
  readonly code: CodeOf<'ConnectionError'> = 'CONNECTION_FAILED';
}

/** The call's deadline passed: `TIMEOUT`. */
export class RequestTimeoutError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.RequestTimeoutError';
  readonly code: CodeOf<'RequestTimeoutError'> = 'TIMEOUT';
}

/** The caller's `signal` was aborted: `ABORTED`. */
export class RequestAbortedError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.RequestAbortedError';
  readonly code: CodeOf<'RequestAbortedError'> = 'ABORTED';
}

interface ResponseErrorDetails extends CallDetails {
  readonly issues?: readonly Issue[];
  readonly response?: ServiceResponse | undefined;
}

/**
 * The answer can't be used: `RESPONSE_UNUSABLE`. After a 2xx its `requestOutcome` is `accepted`, or `unknown` if a
 * creation was answered with a page of HTML, or a store received the record of another reference.
 */
export class ResponseError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.ResponseError';
  readonly code: CodeOf<'ResponseError'> = 'RESPONSE_UNUSABLE';
  /** What your `responseSchema` reported, if that is the reason. */
  declare readonly issues?: readonly Issue[];
  readonly #response: ServiceResponse | undefined;

  /** @internal */
  constructor(message: string, details: ResponseErrorDetails) {
    super(message, details);
    this.#response = details.response;
    setFields<ResponseError>(this, { issues: details.issues });
  }

  /** What was received of the answer, if it has a status. Not printed, as that of an {@link ApiError}. */
  get response(): ServiceResponse | undefined {
    return this.#response;
  }
}

/**
 * Your function that returns a secret failed: `SECRET_UNAVAILABLE`. A client's call throws it for `apiKey`
 * and `apiSecret`; if those miss the call's deadline, it throws `TIMEOUT` instead. If a receiver's
 * `signingSecret` fails or does not return in time, the service gets a 500 and retries.
 */
export class SecretUnavailableError extends OptionError {
  protected static override readonly brand: string = 'merchant-payments.SecretUnavailableError';
  readonly code: CodeOf<'SecretUnavailableError'> = 'SECRET_UNAVAILABLE';
}

interface CallbackVerificationDetails {
  readonly skewSeconds?: number;
  readonly issues?: readonly Issue[];
}

/**
 * A callback was refused. Use nothing of it; answer 401 (422 for `INVALID_RECORD`, 500 for
 * `RAW_BODY_REQUIRED`).
 */
export class CallbackVerificationError extends CodedError<CodeOf<'CallbackVerificationError'>> {
  protected static override readonly brand: string = 'merchant-payments.CallbackVerificationError';
  /**
   * With `TIMESTAMP_OUTSIDE_WINDOW`: how many seconds X-Timestamp is behind this machine's clock; negative if
   * it is ahead.
   */
  declare readonly skewSeconds?: number;
  /** With `INVALID_RECORD`: what is wrong with the record. */
  declare readonly issues?: readonly Issue[];

  /** @internal */
  constructor(
    code: CodeOf<'CallbackVerificationError'>,
    message: string,
    details: CallbackVerificationDetails = {},
  ) {
    super(code, message);
    const { skewSeconds, issues } = details;
    setFields<CallbackVerificationError>(this, { skewSeconds, issues });
  }
}

/**
 * A store refused an operation or could not complete it, or a callback could not be processed; `code` says why. A
 * callback is retried by the service, except after `CHANGE_PARKED`, which is acknowledged.
 */
export class StoreError extends CodedError<CodeOf<'StoreError'>> {
  protected static override readonly brand: string = 'merchant-payments.StoreError';
  /**
   * Of `NOT_REPLACEABLE`: an attempt has `paid` the order, the latest is `open` since the service may still create it,
   * another one has `replaced` it, or the new reference is `in-use` by another payment.
   */
  declare readonly reason?: 'paid' | 'open' | 'replaced' | 'in-use';
  /** Of `NOT_REPLACEABLE`: the reference of the attempt that has replaced the other one, if one has. */
  declare readonly replacedBy?: string;

  /** @internal */
  constructor(
    code: CodeOf<'StoreError'>,
    message: string,
    details: ErrorDetails & Pick<StoreError, 'reason' | 'replacedBy'> = {},
  ) {
    super(code, message, details);
    const { reason, replacedBy } = details;
    setFields<StoreError>(this, { reason, replacedBy });
  }
}

/** The mock of the service could not complete an operation; `code` says why. */
export class MockServerError extends CodedError<CodeOf<'MockServerError'>> {
  protected static override readonly brand: string = 'merchant-payments.MockServerError';
}

/** Options of a {@link RetryLaterError}. */
export interface RetryLaterOptions {
  /**
   * Seconds after which the service may deliver the callback again, sent as `Retry-After`: a whole
   * number from 1 to 86400.
   * @default 1
   */
  retryAfterSeconds?: number | undefined;
  /** The reason, shown by logs and error trackers. */
  cause?: unknown;
}

/**
 * Throw this from `onPayment` when the callback can't be processed yet, for example because its order is not
 * stored: `RETRY_LATER`. The service gets a 503 with `Retry-After` and retries; nothing is recorded.
 * `onError` is called only if the change is older than ten minutes, since its order may never be stored.
 *
 * @example
 * ```ts
 * import { RetryLaterError } from 'merchant-payments/node';
 *
 * declare const updatedRows: number;
 *
 * if (updatedRows === 0) throw new RetryLaterError('The order is not stored yet');
 * ```
 */
export class RetryLaterError extends PackageError {
  protected static override readonly brand: string = 'merchant-payments.RetryLaterError';
  readonly code: CodeOf<'RetryLaterError'> = 'RETRY_LATER';
  /** Seconds to wait, from 1 to 86400. */
  readonly retryAfterSeconds: number;

  /** @throws {InvalidOptionError} when `retryAfterSeconds` is not a whole number from 1 to 86400 */
  constructor(message = 'The callback cannot be processed yet', options: RetryLaterOptions = {}) {
    const { retryAfterSeconds = 1, cause } = options;
    super(message, { cause });
    const isInRange = retryAfterSeconds >= 1 && retryAfterSeconds <= 86_400;
    if (!Number.isInteger(retryAfterSeconds) || !isInRange) {
      const message = 'retryAfterSeconds must be a whole number of seconds from 1 to 86400';
      throw new InvalidOptionError('retryAfterSeconds', message);
    }
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

/**
 * Any error of this package, as a union of its classes: `switch (error.code)` narrows it, and `default` is `never`.
 */
export type MerchantPaymentsError =
  | InvalidOptionError
  | InvalidRequestError
  | ApiError
  | InvalidCredentialsError
  | ConnectionError
  | RequestTimeoutError
  | RequestAbortedError
  | ResponseError
  | SecretUnavailableError
  | CallbackVerificationError
  | StoreError
  | RetryLaterError
  | MockServerError;

/**
 * Base of every error that this package throws. Match on its `code`; `instanceof` works too, even across two
 * installed copies of the package.
 *
 * Its fields are safe to log: no API secret, Authorization header, signing secret or request body is in
 * `message`, `stack`, `cause`, `util.inspect` or JSON.
 */
export const MerchantPaymentsError: ErrorClass<MerchantPaymentsError> =
  PackageError as unknown as ErrorClass<MerchantPaymentsError>;

type OfCall<Class> = Class & {
  readonly requestOutcome: RequestOutcome;
  readonly safeToRetry: boolean;
};

/** An error of a client call, as a union of its classes. Each has `requestOutcome` and `safeToRetry`. */
export type RequestError =
  | OfCall<InvalidOptionError>
  | InvalidRequestError
  | ApiError
  | InvalidCredentialsError
  | ConnectionError
  | RequestTimeoutError
  | RequestAbortedError
  | ResponseError
  | OfCall<SecretUnavailableError>;

/** Base of the errors of client calls. `instanceof` is true for every error with a `requestOutcome`. */
export const RequestError: ErrorClass<RequestError> =
  CallError as unknown as ErrorClass<RequestError>;

// A record with a hundred invalid fields must not produce a message of a hundred lines.
const MAX_DESCRIBED_ISSUES = 5;

/** @internal Joins issues into one sentence: `amount must be …; currency must be …`. */
export function describeIssues(issues: readonly Issue[]): string {
  const shown = issues
    .slice(0, MAX_DESCRIBED_ISSUES)
    .map(({ path, message }) =>
      path.length === 0 ? message : `${path.map(String).join('.')} ${message}`,
    );
  const hidden = issues.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  return shown.join('; ');
}
