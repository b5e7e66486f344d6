/**
 * What is known about the payment behind a call that failed.
 *
 * - `not-sent`: nothing reached the service; no payment exists because of this call.
 * - `rejected`: the service answered with a 4xx other than 408 and 499; it did not accept the request.
 * - `accepted`: the service answered with 2xx, but the answer's body was lost or failed
 *   your `responseSchema`. The payment exists: do not create it again.
 * - `unknown`: the request left this machine, and the service answered with 3xx, 408, 499 or 5xx, or
 *   not at all. The payment may or may not exist; the callback will tell.
 */
export type RequestOutcome = 'not-sent' | 'rejected' | 'accepted' | 'unknown';

/** The `code` of a {@link CallbackVerificationError}. */
export type CallbackVerificationErrorCode =
  | 'MISSING_TIMESTAMP'
  | 'INVALID_TIMESTAMP'
  | 'TIMESTAMP_OUTSIDE_WINDOW'
  | 'MISSING_SIGNATURE'
  | 'INVALID_SIGNATURE'
  | 'SIGNATURE_MISMATCH'
  | 'INVALID_RECORD'
  | 'RAW_BODY_REQUIRED';

/** The `code` of an {@link InboxError}. */
export type InboxErrorCode =
  | 'LEASE_LOST'
  | 'TRANSACTION_LOST'
  | 'INBOX_TIMEOUT'
  | 'STORE_FAILED'
  | 'WORK_TIMEOUT'
  | 'STALE_CHANGE';

/**
 * Every `code` this package sets by itself. An {@link ApiError} carries the service's own code
 * when the answer has one, so it can hold a string that is not in this list.
 */
export type ErrorCode =
  | 'INVALID_OPTION'
  | 'INVALID_REQUEST'
  | 'API_ERROR'
  | 'INVALID_CREDENTIALS'
  | 'CONNECTION_FAILED'
  | 'TIMEOUT'
  | 'ABORTED'
  | 'RESPONSE_UNUSABLE'
  | CallbackVerificationErrorCode
  | InboxErrorCode
  | 'RETRY_LATER';

/** The codes of {@link ErrorCode} as values, in the order in which docs/errors.md lists them. */
export const errorCodes: readonly ErrorCode[] = Object.freeze([
  'INVALID_OPTION',
  'INVALID_REQUEST',
  'API_ERROR',
  'INVALID_CREDENTIALS',
  'CONNECTION_FAILED',
  'TIMEOUT',
  'ABORTED',
  'RESPONSE_UNUSABLE',
  'MISSING_TIMESTAMP',
  'INVALID_TIMESTAMP',
  'TIMESTAMP_OUTSIDE_WINDOW',
  'MISSING_SIGNATURE',
  'INVALID_SIGNATURE',
  'SIGNATURE_MISMATCH',
  'INVALID_RECORD',
  'RAW_BODY_REQUIRED',
  'LEASE_LOST',
  'TRANSACTION_LOST',
  'INBOX_TIMEOUT',
  'STORE_FAILED',
  'WORK_TIMEOUT',
  'STALE_CHANGE',
  'RETRY_LATER',
]);

/** One thing that is wrong with an input or a record. */
export interface Issue {
  /** Where it is, from the outside in: `['extraBody', 'amount']`. Empty for the whole value. */
  readonly path: readonly PropertyKey[];
  /** What was expected and what came. Issues written by this package never quote the value. */
  readonly message: string;
}

interface ErrorDetails {
  readonly requestOutcome?: RequestOutcome | undefined;
  readonly safeToRetry?: boolean | undefined;
  readonly cause?: unknown;
}

// Two copies of the package (ESM beside CJS, or two installs) have two sets of classes. A brand
// from the global symbol registry lets `instanceof` see through that.
function defineErrorClass(errorClass: { prototype: object }, name: string): void {
  const mark = Symbol.for(`merchant-payments.${name}`);
  Object.defineProperty(errorClass.prototype, mark, { value: true });
  Object.defineProperty(errorClass.prototype, 'name', {
    value: name,
    configurable: true,
    writable: true,
  });
  Object.defineProperty(errorClass, Symbol.hasInstance, {
    value(this: unknown, candidate: unknown): boolean {
      // A user's own subclass inherits this method; for it the ordinary prototype check is right.
      return this === errorClass
        ? typeof candidate === 'object' && candidate !== null && mark in candidate
        : Function.prototype[Symbol.hasInstance].call(this, candidate);
    },
  });
}

/**
 * Base of every error that this package throws. Match on {@link MerchantPaymentsError.code};
 * `instanceof` works too, also across two installed copies of the package.
 *
 * Its fields are safe to log: no API secret, Authorization header, signing secret or request body
 * is in `message`, `stack`, `cause`, `util.inspect` or JSON.
 */
export abstract class MerchantPaymentsError extends Error {
  static {
    defineErrorClass(this, 'MerchantPaymentsError');
  }
  /** Machine-readable reason: one of {@link ErrorCode}, or the service's own for an {@link ApiError}. */
  abstract readonly code: string;
  /** What is known about the payment. Set on every error of a client call, absent elsewhere. */
  declare readonly requestOutcome?: RequestOutcome;
  /**
   * Whether the same call may be made again: true only when that can't create a second payment and can
   * succeed: nothing was sent for want of a connection or of time, a 429, or a safe method (GET, HEAD,
   * OPTIONS) without a conclusive answer. `retryUnknownOutcome` does not change it. Set on every error
   * of a client call, absent elsewhere.
   */
  declare readonly safeToRetry?: boolean;

  /** @internal */
  constructor(message: string, { requestOutcome, safeToRetry = false, cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
    if (requestOutcome === undefined) return;
    this.requestOutcome = requestOutcome;
    this.safeToRetry = safeToRetry;
  }

  /** The error as a plain object for structured logs: name, code, message and its own safe fields. */
  toJSON(): Record<string, unknown> {
    const { name, code, message } = this;
    return { name, code, message, ...(this as unknown as Record<string, unknown>) };
  }
}

/** An option is invalid or does not exist: `INVALID_OPTION`. Thrown at construction, or by a call for its own options. */
export class InvalidOptionError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'InvalidOptionError');
  }
  readonly code = 'INVALID_OPTION';
  /** Name of the option, for example `timeoutMs`. */
  readonly option: string;

  /** @internal */
  constructor(option: string, message: string, details?: ErrorDetails) {
    super(message, details);
    this.option = option;
  }
}

/** The request can't be right, and nothing was sent: `INVALID_REQUEST`. */
export class InvalidRequestError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'InvalidRequestError');
  }
  readonly code = 'INVALID_REQUEST';
  /** Every field that is wrong. */
  readonly issues: readonly Issue[];

  /** @internal */
  constructor(issues: readonly Issue[]) {
    super(`The request was not sent: ${describeIssues(issues)}`, { requestOutcome: 'not-sent' });
    this.issues = issues;
  }
}

interface ApiErrorDetails extends ErrorDetails {
  readonly httpStatus: number;
  readonly code: string;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * The service answered with another status than 2xx (interface section 7). Its `requestOutcome`
 * is `rejected` for 4xx other than 408 and 499, else `unknown`.
 */
export class ApiError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'ApiError');
  }
  /** The service's own code when the answer has one, else `API_ERROR`. */
  readonly code: string;
  /** The HTTP status of the answer. */
  readonly httpStatus: number;
  /** The service's identifier of the request, to quote to its support. */
  declare readonly requestId?: string;
  /** Seconds the service asked to wait by `Retry-After`. */
  declare readonly retryAfterSeconds?: number;

  /** @internal */
  constructor(message: string, details: ApiErrorDetails) {
    super(message, details);
    this.code = details.code;
    this.httpStatus = details.httpStatus;
    if (details.requestId !== undefined) this.requestId = details.requestId;
    if (details.retryAfterSeconds !== undefined) this.retryAfterSeconds = details.retryAfterSeconds;
  }
}

/** The service refused the API key and secret with 401: `INVALID_CREDENTIALS` (interface section 5.1). */
export class InvalidCredentialsError extends ApiError {
  static {
    defineErrorClass(this, 'InvalidCredentialsError');
  }
  declare readonly code: 'INVALID_CREDENTIALS';
}

/** No connection, or one that broke before an answer: `CONNECTION_FAILED`. */
export class ConnectionError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'ConnectionError');
  }
  readonly code = 'CONNECTION_FAILED';
}

/** The call's deadline passed: `TIMEOUT`. */
export class RequestTimeoutError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'RequestTimeoutError');
  }
  readonly code = 'TIMEOUT';
}

/** The caller's `signal` was aborted: `ABORTED`. */
export class RequestAbortedError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'RequestAbortedError');
  }
  readonly code = 'ABORTED';
}

/** An answer came that can't be used: `RESPONSE_UNUSABLE`. After a 2xx its `requestOutcome` is `accepted`. */
export class ResponseError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'ResponseError');
  }
  readonly code = 'RESPONSE_UNUSABLE';
  /** What your `responseSchema` found, when that is the reason. */
  declare readonly issues?: readonly Issue[];

  /** @internal */
  constructor(message: string, details: ErrorDetails & { issues?: readonly Issue[] }) {
    super(message, details);
    if (details.issues !== undefined) this.issues = details.issues;
  }
}

interface CallbackVerificationDetails {
  readonly skewSeconds?: number;
  readonly issues?: readonly Issue[];
}

/** A callback was refused. Nothing of it may be used, except to answer 401 (422 for `INVALID_RECORD`). */
export class CallbackVerificationError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'CallbackVerificationError');
  }
  readonly code: CallbackVerificationErrorCode;
  /**
   * With `TIMESTAMP_OUTSIDE_WINDOW`: how far X-Timestamp lies behind this machine's clock, in
   * seconds; negative when it lies ahead.
   */
  declare readonly skewSeconds?: number;
  /** With `INVALID_RECORD`: what is wrong with the record. */
  declare readonly issues?: readonly Issue[];

  /** @internal */
  constructor(
    code: CallbackVerificationErrorCode,
    message: string,
    details: CallbackVerificationDetails = {},
  ) {
    super(message);
    this.code = code;
    if (details.skewSeconds !== undefined) this.skewSeconds = details.skewSeconds;
    if (details.issues !== undefined) this.issues = details.issues;
  }
}

/**
 * A callback could not be processed. The service is to deliver it again, but for `STALE_CHANGE`.
 *
 * - `LEASE_LOST`: the work took longer than its lease lived; another process may have run it too.
 * - `TRANSACTION_LOST`: the work ended or broke the transaction it was handed, or its connection was
 *   lost; nothing was recorded.
 * - `INBOX_TIMEOUT`: the store did not answer in time.
 * - `STORE_FAILED`: the store answered with an error; `cause` tells it without what was sent.
 * - `WORK_TIMEOUT`: `onPayment` has not returned in time. If it still does, that is recorded then.
 * - `STALE_CHANGE`: a change older than the last one processed was acknowledged without `onPayment`.
 */
export class InboxError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'InboxError');
  }
  readonly code: InboxErrorCode;

  /** @internal */
  constructor(code: InboxErrorCode, message: string, details?: ErrorDetails) {
    super(message, details);
    this.code = code;
  }
}

/** Options of a {@link RetryLaterError}. */
export interface RetryLaterOptions {
  /**
   * Seconds after which the service may deliver the callback again, sent as `Retry-After`: a whole
   * number from 1 to 86400.
   * @default 1
   */
  retryAfterSeconds?: number | undefined;
  /** Why. Logs and error trackers show it. */
  cause?: unknown;
}

/**
 * Throw it from `onPayment` when the callback can't be processed yet, for example because its order
 * is not stored: `RETRY_LATER`. The service gets a 503 with `Retry-After` and retries; nothing is
 * recorded, and `onError` is not called.
 *
 * @example
 * ```ts
 * import { RetryLaterError } from 'merchant-payments';
 *
 * declare const updatedRows: number;
 *
 * if (updatedRows === 0) throw new RetryLaterError('The order is not stored yet');
 * ```
 */
export class RetryLaterError extends MerchantPaymentsError {
  static {
    defineErrorClass(this, 'RetryLaterError');
  }
  readonly code = 'RETRY_LATER';
  /** Seconds to wait, from 1 to 86400. */
  readonly retryAfterSeconds: number;

  /** @throws {InvalidOptionError} when `retryAfterSeconds` is not a whole number from 1 to 86400 */
  constructor(
    message = 'The callback cannot be processed yet',
    { retryAfterSeconds = 1, cause }: RetryLaterOptions = {},
  ) {
    super(message, { cause });
    if (
      !Number.isInteger(retryAfterSeconds) ||
      retryAfterSeconds < 1 ||
      retryAfterSeconds > 86_400
    ) {
      throw new InvalidOptionError(
        'retryAfterSeconds',
        'retryAfterSeconds must be a whole number of seconds from 1 to 86400',
      );
    }
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

// A record with a hundred wrong fields must not make a message of a hundred lines.
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
