interface FaultBase {
  /** What happens. */
  type: string;
  /**
   * How often the fault happens before it is used up: a whole number from 1, or `Infinity`.
   * @default 1
   */
  times?: number | undefined;
}

/** Which requests a fault is for: every field given must be equal. Without any it fits all. */
export interface RequestFaultMatch {
  /** The `merchantPaymentReference` in the request's body. */
  merchantPaymentReference?: string | undefined;
  /** The request's method, in capital letters. */
  method?: string | undefined;
  /** The request's path, without the query. */
  path?: string | undefined;
}

interface RequestFaultBase extends FaultBase {
  /** That it happens to requests of the merchant. */
  on: 'request';
  /** Which requests it is for. */
  match?: RequestFaultMatch | undefined;
}

/** The request is handled as usual after `delayMs` milliseconds of the service's clock. Created: yes, after the delay, unless the client left. */
export interface DelayFault extends RequestFaultBase {
  type: 'delay';
  /** Milliseconds of the service's clock, from 0 to 2147483647. */
  delayMs: number;
}

/** 401 `INVALID_CREDENTIALS`, whatever the credentials are. Created: no. */
export interface UnauthorizedFault extends RequestFaultBase {
  type: 'unauthorized';
}

/** 429 with `Retry-After`. Created: no. The interface shows no limits; the mock's own choice. */
export interface RateLimitFault extends RequestFaultBase {
  type: 'rate-limit';
  /**
   * The value of `Retry-After`: whole seconds from 0.
   * @default 1
   */
  retryAfterSeconds?: number | undefined;
}

/** A 5xx with an error body. Created: no, though no client can know. */
export interface ServerErrorFault extends RequestFaultBase {
  type: 'server-error';
  /**
   * The status, from 500 to 599.
   * @default 500
   */
  status?: number | undefined;
}

/** 502 with an HTML page, as a proxy in front of the service writes it. Created: no. */
export interface HtmlErrorFault extends RequestFaultBase {
  type: 'html-error';
}

/** The usual answer with a body that is not JSON any more: its last character is missing. Created: yes. */
export interface MalformedJsonFault extends RequestFaultBase {
  type: 'malformed-json';
}

/** The usual answer, closed in an orderly way after half of its body. Created: yes. */
export interface TruncatedBodyFault extends RequestFaultBase {
  type: 'truncated-body';
}

/** The usual status with no body at all. Created: yes. */
export interface EmptyBodyFault extends RequestFaultBase {
  type: 'empty-body';
}

/** The connection is reset before a byte of the answer. Created: no. */
export interface ResetBeforeHeadersFault extends RequestFaultBase {
  type: 'reset-before-headers';
}

/** The connection is reset after half of the usual answer's body. Created: yes. */
export interface ResetInBodyFault extends RequestFaultBase {
  type: 'reset-in-body';
}

/** No answer at all: the request stays open until the client leaves or the service is reset or closed. Created: no. */
export interface HangFault extends RequestFaultBase {
  type: 'hang';
}

/**
 * The request is handled as usual, and the connection is reset before a byte of the answer.
 * Created: yes. To a client it looks exactly like `reset-before-headers`: this is the pair that
 * shows whether it repeats what it must not repeat.
 */
export interface LostAnswerFault extends RequestFaultBase {
  type: 'lost-answer';
}

/** Something that goes wrong with a request of the merchant. "The usual answer" is a 201 for a request in order. */
export type RequestFault =
  | DelayFault
  | UnauthorizedFault
  | RateLimitFault
  | ServerErrorFault
  | HtmlErrorFault
  | MalformedJsonFault
  | TruncatedBodyFault
  | EmptyBodyFault
  | ResetBeforeHeadersFault
  | ResetInBodyFault
  | HangFault
  | LostAnswerFault;

/** Which callbacks a fault is for: every field given must be equal. Without any it fits all. */
export interface CallbackFaultMatch {
  /** The payment. */
  referenceNumber?: string | undefined;
  /** The merchant's own reference of the payment. */
  merchantPaymentReference?: string | undefined;
  /** The status the payment was set to. */
  status?: string | undefined;
  /** Number of the attempt, from 1. */
  attempt?: number | undefined;
}

interface CallbackFaultBase extends FaultBase {
  /** That it happens to callbacks of the service. */
  on: 'callback';
  /** Which attempts it is for. */
  match?: CallbackFaultMatch | undefined;
}

/** The attempt is sent more than once, in the same bytes with the same headers. Copies take no fault themselves. */
export interface DuplicateFault extends CallbackFaultBase {
  type: 'duplicate';
  /**
   * `in-turn`: each after the one before was answered. `at-once`: all at the same time.
   * @default 'in-turn'
   */
  mode?: 'in-turn' | 'at-once' | undefined;
  /**
   * How many copies are sent beside the attempt itself: from 1 to 100.
   * @default 1
   */
  copies?: number | undefined;
}

/**
 * The first attempt of a change is kept back until the payment's next change was delivered, so that
 * the older one comes last. Several that are kept back follow newest first. `setStatus` does not
 * wait for it.
 */
export interface ReorderFault extends CallbackFaultBase {
  type: 'reorder';
}

/** The attempt gets lost on its way: it is not sent, and repeated on the retry schedule. */
export interface DropFault extends CallbackFaultBase {
  type: 'drop';
}

/** Correctly signed, with an X-Timestamp in the past. */
export interface StaleTimestampFault extends CallbackFaultBase {
  type: 'stale-timestamp';
  /**
   * How far, in whole seconds from 1.
   * @default 600
   */
  bySeconds?: number | undefined;
}

/** Correctly signed, with an X-Timestamp in the future. */
export interface FutureTimestampFault extends CallbackFaultBase {
  type: 'future-timestamp';
  /**
   * How far, in whole seconds from 1.
   * @default 600
   */
  bySeconds?: number | undefined;
}

/** After signing, the body's `merchantPaymentReference` is changed, as if to have another order paid. */
export interface TamperedBodyFault extends CallbackFaultBase {
  type: 'tampered-body';
}

/** Signed with another secret than the account's. */
export interface WrongSecretFault extends CallbackFaultBase {
  type: 'wrong-secret';
}

/** Sent without one of its headers. */
export interface MissingHeaderFault extends CallbackFaultBase {
  type: 'missing-header';
  /**
   * Which one.
   * @default 'x-signature'
   */
  header?: 'x-timestamp' | 'x-signature' | 'content-type' | undefined;
}

/** After signing, the body is written anew: the same JSON with line breaks, so other bytes. */
export interface ReserializedBodyFault extends CallbackFaultBase {
  type: 'reserialized-body';
}

/** Correctly signed, with a status the merchant has never heard of. The payment's own status stays. */
export interface UnknownStatusFault extends CallbackFaultBase {
  type: 'unknown-status';
  /**
   * The status that is sent.
   * @default 'mock_unknown_status'
   */
  status?: string | undefined;
}

/** Correctly signed, with a field that the interface does not show. */
export interface ExtraFieldFault extends CallbackFaultBase {
  type: 'extra-field';
  /**
   * Name of the field.
   * @default 'mockExtraField'
   */
  field?: string | undefined;
  /**
   * Its value: anything JSON can carry.
   * @default 'added by the mock service'
   */
  value?: unknown;
}

/** Something that goes wrong with a callback. */
export type CallbackFault =
  | DuplicateFault
  | ReorderFault
  | DropFault
  | StaleTimestampFault
  | FutureTimestampFault
  | TamperedBodyFault
  | WrongSecretFault
  | MissingHeaderFault
  | ReserializedBodyFault
  | UnknownStatusFault
  | ExtraFieldFault;

/**
 * Something that goes wrong. A request, or an attempt to deliver a callback, takes at most one fault:
 * the oldest that fits. `on` and `type` say what happens, `times` how often, `match` to whom.
 */
export type Fault = RequestFault | CallbackFault;

/** The `type` of a fault on requests. */
export type RequestFaultType = RequestFault['type'];
/** The `type` of a fault on callbacks. */
export type CallbackFaultType = CallbackFault['type'];
