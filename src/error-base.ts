/**
 * What is known about the payment behind a call that failed.
 *
 * - `not-sent`: nothing reached the service; no payment exists because of this call.
 * - `rejected`: the service answered with a 4xx other than 408 and 499; it did not accept the request.
 * - `accepted`: the service answered with 2xx, but the answer's body was lost or failed
 *   your `responseSchema`. The payment exists: do not create it again.
 * - `unknown`: the request left this machine, and the service answered with 3xx, 408, 499 or 5xx, or
 *   not at all. The payment may or may not exist; its callback settles it.
 */
export type RequestOutcome = 'not-sent' | 'rejected' | 'accepted' | 'unknown';

/** One problem with an input or a record. */
export interface Issue {
  /**
   * Path to the problem, from the outside in: `['extraBody', 'amount']`. Empty if it concerns the whole
   * value.
   */
  readonly path: readonly PropertyKey[];
  /** What was expected and what was received. Issues written by this package never quote the value. */
  readonly message: string;
}

/** Headers of an answer, their names in lower case. */
export type ResponseHeaders = Readonly<Record<string, string | string[]>>;

/** An answer of the service. */
export interface ServiceResponse<Body = unknown> {
  /** The HTTP status: from 200 to 299, unless it is the `response` of an error. */
  status: number;
  /** The headers, their names in lower case. */
  headers: ResponseHeaders;
  /** The body: parsed if it is JSON, else its text. With a `responseSchema`, the schema's output. */
  body: Body;
  /**
   * The body as it was received, as text: it has all digits of a number that is too large for JavaScript. At most
   * `maxResponseBytes`; of a body that broke off, what had arrived.
   */
  text: string;
  /** How many requests the call took, from 1. */
  attempts: number;
}

export interface ErrorDetails {
  readonly cause?: unknown;
}

/** What is known about a failed call. */
export interface CallDetails extends ErrorDetails {
  readonly requestOutcome: RequestOutcome;
  /** @default false */
  readonly safeToRetry?: boolean | undefined;
}

/** The type of a value that works on the right side of `instanceof` for a union of classes. */
export type ErrorClass<Union> = abstract new (...options: never) => Union;

// An accessor, so that the stack, which is written before a field could be set, begins with the class's name.
// Its type says property, so that `override name = 'OrderError'` in a subclass compiles.
const NamedError = class extends Error {
  override get name(): string {
    return (this.constructor as unknown as { brand: string }).brand.slice(
      'merchant-payments.'.length,
    );
  }
  /** Renames this error only. */
  override set name(value: string) {
    Object.defineProperty(this, 'name', { value, configurable: true, writable: true });
  }
} as typeof Error;

/** Base of all errors of this package. */
export abstract class PackageError extends NamedError {
  // Two copies of the package (ESM and CJS, or two installs) have different classes with the same brands. Not
  // set in a static block, since bundlers would then keep every class.
  protected static readonly brand: string = 'merchant-payments.MerchantPaymentsError';

  /** @internal */
  static override [Symbol.hasInstance](candidate: unknown): boolean {
    if (Function.prototype[Symbol.hasInstance].call(this, candidate)) return true;
    // A user's subclass inherits this method and the brand, so only the prototype counts for it.
    return Object.hasOwn(this, 'brand') && hasBrand(candidate, this.brand);
  }

  /** Name of the class. */
  declare name: string;
  /** Machine-readable reason: an `ErrorCode`. */
  abstract readonly code: string;
  /** What is known about the payment. Set on every `RequestError`, absent elsewhere. */
  declare readonly requestOutcome?: RequestOutcome;
  /**
   * Whether you may make the same call again: true only if that can't create a second payment and can
   * succeed. That is so if nothing was sent (no connection, no secret, or no time left), after a 429, and for
   * a safe method (GET, HEAD, OPTIONS) without a conclusive answer. `idempotency` does not change it.
   * Set on every `RequestError`, absent elsewhere.
   */
  declare readonly safeToRetry?: boolean;

  /** @internal */
  constructor(message: string, details: Partial<CallDetails> = {}) {
    const { cause, requestOutcome, safeToRetry = false } = details;
    super(message, cause === undefined ? undefined : { cause });
    if (requestOutcome !== undefined)
      setFields<PackageError>(this, { requestOutcome, safeToRetry });
  }

  /**
   * Returns a plain object for structured logs: name, code, message and the error's own fields, all safe to
   * log.
   */
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

type Fields<Of> = { [Name in keyof Of]?: Of[Name] | undefined };

/** Sets only the fields that have a value, so that the others are not properties at all. */
export function setFields<Of extends PackageError>(error: Of, fields: Fields<Of>): void {
  for (const [name, value] of Object.entries(fields)) {
    if (value !== undefined) Object.assign(error, { [name]: value });
  }
}

/** Base of the errors of client calls. */
export abstract class CallError extends PackageError {
  protected static override readonly brand: string = 'merchant-payments.RequestError';

  /** @internal */
  static override [Symbol.hasInstance](candidate: unknown): boolean {
    if (this !== CallError) return super[Symbol.hasInstance](candidate);
    return candidate instanceof PackageError && candidate.requestOutcome !== undefined;
  }

  declare readonly requestOutcome: RequestOutcome;
  declare readonly safeToRetry: boolean;

  /** @internal */
  // Narrower than the base's: here `requestOutcome` is required.
  constructor(message: string, details: CallDetails) {
    super(message, details);
  }
}

/** An error that names an option. */
export abstract class OptionError extends PackageError {
  /** Name of the option, for example `timeoutMs`. */
  readonly option: string;

  /** @internal */
  constructor(option: string, message: string, details?: Partial<CallDetails>) {
    super(message, details);
    this.option = option;
    extendStack(this);
  }
}

// An option may be checked ten calls below the function that takes it, and V8 keeps ten frames: too few to
// show the caller's line, which needs the fix.
function extendStack(error: OptionError): void {
  const limit = Error.stackTraceLimit;
  if (!(limit > 0)) return;
  try {
    Error.stackTraceLimit = limit + 10;
  } catch {
    return; // frozen, for example by --frozen-intrinsics
  }
  Error.captureStackTrace?.(error, error.constructor);
  Error.stackTraceLimit = limit;
}

export abstract class CodedError<Code extends string> extends PackageError {
  readonly code: Code;

  /** @internal */
  constructor(code: Code, message: string, details?: ErrorDetails) {
    super(message, details);
    this.code = code;
  }
}
