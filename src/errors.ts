import type { CodeOf } from './error-codes.js';

export type {
  CallbackVerificationErrorCode,
  ErrorCode,
  InboxErrorCode,
  MockServerErrorCode,
} from './error-codes.js';
export { errorCodes } from './error-codes.js';

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

/** One thing that is wrong with an input or a record. */
export interface Issue {
  /** Where it is, from the outside in: `['extraBody', 'amount']`. Empty for the whole value. */
  readonly path: readonly PropertyKey[];
  /** What was expected and what was received. Issues written by this package never quote the value. */
  readonly message: string;
}

interface ErrorDetails {
  readonly cause?: unknown;
}

/** What is known of a call that failed. */
interface CallDetails extends ErrorDetails {
  readonly requestOutcome: RequestOutcome;
  /** @default false */
  readonly safeToRetry?: boolean | undefined;
}

/** The right side of `instanceof` for a union of classes. */
export type ErrorClass<Union> = abstract new (...options: never) => Union;

/** What all errors of this package have. */
abstract class PackageError extends Error {
  // Two copies of the package (ESM beside CJS, or two installs) have two sets of classes, with the same
  // brands. Not set in a static block: bundlers would keep every class then.
  protected static readonly brand: string = 'merchant-payments.MerchantPaymentsError';

  /** @internal */
  static override [Symbol.hasInstance](candidate: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, candidate)) return true;
    // A user's own subclass inherits this method and the brand; the prototype alone decides for it.
    return Object.hasOwn(this, 'brand') && hasBrand(candidate, this.brand);
  }

  /** Machine-readable reason: one of `ErrorCode`, or the service's own for an {@link ApiError}. */
  abstract readonly code: string;
  /** What is known about the payment. Set on every {@link RequestError}, absent elsewhere. */
  declare readonly requestOutcome?: RequestOutcome;
  /**
   * Whether the same call may be made again: true only when that can't create a second payment and can
   * succeed: nothing was sent for want of a connection, of a secret or of time, a 429, or a safe method
   * (GET, HEAD, OPTIONS) without a conclusive answer. `retryUnknownOutcome` does not change it. Set on
   * every {@link RequestError}, absent elsewhere.
   */
  declare readonly safeToRetry?: boolean;

  /** @internal */
  constructor(message: string, { cause }: ErrorDetails = {}) {
    super(message, cause === undefined ? undefined : { cause });
  }

  /** Name of the class. */
  override get name(): string {
    return (this.constructor as typeof PackageError).brand.slice('merchant-payments.'.length);
  }
  /** Names this error alone otherwise. */
  override set name(value: string) {
    Object.defineProperty(this, 'name', { value, configurable: true, writable: true });
  }

  /** The error as a plain object for structured logs: name, code, message and its own safe fields. */
  toJSON(): Record<string, unknown> {
    const { name, code, message } = this;
    return { name, code, message, ...(this as unknown as Record<string, unknown>) };
  }
}

function hasBrand(candidate: unknown, brand: string): boolean {
  if (typeof candidate !== 'object' || candidate === null) return false;
  let errorClass: unknown = candidate.constructor;
  while (typeof errorClass === 'function') {
    if ((errorClass as { brand?: unknown }).brand === brand) return true;
    errorClass = Object.getPrototypeOf(errorClass);
  }
  return false;
}

/** What the errors of a call also have. */
abstract class CallError extends PackageError {
  protected static override readonly brand: string = 'merchant-payments.RequestError';

  /** @internal */
  static override [Symbol.hasInstance](candidate: unknown): boolean {
    if (this !== CallError) return super[Symbol.hasInstance](candidate);
    return candidate instanceof PackageError && candidate.requestOutcome !== undefined;
  }

  declare readonly requestOutcome: RequestOutcome;
  declare readonly safeToRetry: boolean;

  /** @internal */
  constructor(message: string, details: CallDetails) {
    super(message, details);
    setOutcome(this, details);
  }
}

function setOutcome(error: PackageError, details: Partial<CallDetails>): void {
  const { requestOutcome, safeToRetry = false } = details;
  if (requestOutcome !== undefined) Object.assign(error, { requestOutcome, safeToRetry });
}

/** An error that names an option. */
abstract class OptionError extends PackageError {
  /** Name of the option, for example `timeoutMs`. */
  readonly option: string;

  /** @internal */
  constructor(option: string, message: string, details: Partial<CallDetails> = {}) {
    super(message, details);
    setOutcome(this, details);
    this.option = option;
    extendStack(this);
  }
}

// An option may be checked ten calls below the function that takes it, and V8 keeps ten frames: without
// more the stack would not show the caller's line, the one to correct.
function extendStack(error: OptionError): void {
  const limit = Error.stackTraceLimit;
  if (!(limit > 0)) return;
  try {
    Error.stackTraceLimit = limit + 10;
  } catch {
    return; // frozen, as by --frozen-intrinsics
  }
  Error.captureStackTrace?.(error, error.constructor);
  Error.stackTraceLimit = limit;
}

/** An error of several codes. */
abstract class CodedError<Code extends string> extends PackageError {
  readonly code: Code;

  /** @internal */
  constructor(code: Code, message: string, details?: ErrorDetails) {
    super(message, details);
    this.code = code;
  }
}

/** An option is invalid or does not exist: `INVALID_OPTION`. Thrown at construction, or by a call for its own options. */
export class InvalidOptionError extends OptionError {
  protected static override readonly brand: string = 'merchant-payments.InvalidOptionError';
  readonly code: CodeOf<'InvalidOptionError'> = 'INVALID_OPTION';
}

/** The request is invalid, and nothing was sent: `INVALID_REQUEST`. */
export class InvalidRequestError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.InvalidRequestError';
  readonly code: CodeOf<'InvalidRequestError'> = 'INVALID_REQUEST';
  /** Every field that is wrong. */
  readonly issues: readonly Issue[];

  /** @internal */
  constructor(issues: readonly Issue[]) {
    super(`The request was not sent: ${describeIssues(issues)}`, { requestOutcome: 'not-sent' });
    this.issues = issues;
  }
}

interface ApiErrorDetails extends CallDetails {
  readonly httpStatus: number;
  readonly code: string;
  readonly requestId?: string | undefined;
  readonly retryAfterSeconds?: number | undefined;
}

/**
 * The service answered with another status than 2xx (interface section 7). Its `requestOutcome`
 * is `rejected` for 4xx other than 408 and 499, else `unknown`.
 */
export class ApiError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.ApiError';
  /**
   * The service's own code when the answer has one, else `API_ERROR`. It can be the same text as a code
   * of another class: look at `instanceof ApiError` before `switch (error.code)`.
   */
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
  protected static override readonly brand: string = 'merchant-payments.InvalidCredentialsError';
  declare readonly code: CodeOf<'InvalidCredentialsError'>;
}

/** No connection, or one that broke before an answer: `CONNECTION_FAILED`. */
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

/** The answer can't be used: `RESPONSE_UNUSABLE`. After a 2xx its `requestOutcome` is `accepted`. */
export class ResponseError extends CallError {
  protected static override readonly brand: string = 'merchant-payments.ResponseError';
  readonly code: CodeOf<'ResponseError'> = 'RESPONSE_UNUSABLE';
  /** What your `responseSchema` found, when that is the reason. */
  declare readonly issues?: readonly Issue[];

  /** @internal */
  constructor(message: string, details: CallDetails & { issues?: readonly Issue[] }) {
    super(message, details);
    if (details.issues !== undefined) this.issues = details.issues;
  }
}

/**
 * A function of yours that gives a secret failed: `SECRET_UNAVAILABLE`. Thrown by a call for `apiKey` and
 * `apiSecret`, which have the call's own deadline (`TIMEOUT`); for a receiver's `signingSecret`, also when it
 * did not answer in time, the service gets a 500 and retries.
 */
export class SecretUnavailableError extends OptionError {
  protected static override readonly brand: string = 'merchant-payments.SecretUnavailableError';
  readonly code: CodeOf<'SecretUnavailableError'> = 'SECRET_UNAVAILABLE';
}

interface CallbackVerificationDetails {
  readonly skewSeconds?: number;
  readonly issues?: readonly Issue[];
}

/** A callback was refused. Nothing of it may be used, except to answer 401 (422 for `INVALID_RECORD`). */
export class CallbackVerificationError extends PackageError {
  protected static override readonly brand: string = 'merchant-payments.CallbackVerificationError';
  readonly code: CodeOf<'CallbackVerificationError'>;
  /**
   * With `TIMESTAMP_OUTSIDE_WINDOW`: how far X-Timestamp lies behind this machine's clock, in
   * seconds; negative when it lies ahead.
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
    super(message);
    this.code = code;
    if (details.skewSeconds !== undefined) this.skewSeconds = details.skewSeconds;
    if (details.issues !== undefined) this.issues = details.issues;
  }
}

/**
 * A callback could not be processed; `code` says why. The service retries it, but for `STALE_CHANGE`,
 * `CHANGE_PARKED` and `CHANGE_BLOCKED`, which are acknowledged.
 */
export class InboxError extends CodedError<CodeOf<'InboxError'>> {
  protected static override readonly brand: string = 'merchant-payments.InboxError';
}

/** The mock of the service could not do what was asked; `code` says why. */
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
export class RetryLaterError extends PackageError {
  protected static override readonly brand: string = 'merchant-payments.RetryLaterError';
  readonly code: CodeOf<'RetryLaterError'> = 'RETRY_LATER';
  /** Seconds to wait, from 1 to 86400. */
  readonly retryAfterSeconds: number;

  /** @throws {InvalidOptionError} when `retryAfterSeconds` is not a whole number from 1 to 86400 */
  constructor(
    message = 'The callback cannot be processed yet',
    { retryAfterSeconds = 1, cause }: RetryLaterOptions = {},
  ) {
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
 * Any error of this package, as a union of its classes. Once `instanceof ApiError` is ruled out,
 * `switch (error.code)` tells the others apart, and `default` is `never`.
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
  | InboxError
  | RetryLaterError
  | MockServerError;

/**
 * Base of every error that this package throws. Match on its `code`; `instanceof` works too, also across
 * two installed copies of the package.
 *
 * Its fields are safe to log: no API secret, Authorization header, signing secret or request body
 * is in `message`, `stack`, `cause`, `util.inspect` or JSON.
 */
export const MerchantPaymentsError: ErrorClass<MerchantPaymentsError> =
  PackageError as unknown as ErrorClass<MerchantPaymentsError>;

type OfCall<Class> = Class & {
  readonly requestOutcome: RequestOutcome;
  readonly safeToRetry: boolean;
};

/** An error of a client's call, as a union of its classes: each has `requestOutcome` and `safeToRetry`. */
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

/** Base of the errors of a client's call. `instanceof` holds for each that has a `requestOutcome`. */
export const RequestError: ErrorClass<RequestError> =
  CallError as unknown as ErrorClass<RequestError>;

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
