/** Every code of an error, by class. docs/errors.md has a row for each. */
const codes = {
  InvalidOptionError: ['INVALID_OPTION'],
  InvalidRequestError: ['INVALID_REQUEST'],
  ApiError: ['API_ERROR'],
  InvalidCredentialsError: ['INVALID_CREDENTIALS'],
  ConnectionError: ['CONNECTION_FAILED'],
  RequestTimeoutError: ['TIMEOUT'],
  RequestAbortedError: ['ABORTED'],
  ResponseError: ['RESPONSE_UNUSABLE'],
  SecretUnavailableError: ['SECRET_UNAVAILABLE'],
  CallbackVerificationError: [
    'MISSING_TIMESTAMP',
    'INVALID_TIMESTAMP',
    'TIMESTAMP_OUTSIDE_WINDOW',
    'MISSING_SIGNATURE',
    'INVALID_SIGNATURE',
    'SIGNATURE_MISMATCH',
    'INVALID_RECORD',
    'RAW_BODY_REQUIRED',
    'BODY_TOO_LARGE',
    'BODY_INCOMPLETE',
  ],
  StoreError: [
    'REFERENCE_CONFLICT',
    'UNKNOWN_REFERENCE',
    'NOT_REPLACEABLE',
    'STATE_CHANGED',
    'SECOND_PAYMENT',
    'STORE_TIMEOUT',
    'LEASE_LOST',
    'TRANSACTION_LOST',
    'MISSING_TABLES',
    'STORE_FAILED',
    'CONTRACT_VIOLATION',
    'WORK_TIMEOUT',
    'CHANGE_PARKED',
    'CHANGE_OVERDUE',
    'REPLAY_IMPOSSIBLE',
  ],
  RetryLaterError: ['RETRY_LATER'],
  MockServerError: [
    'PORT_IN_USE',
    'LISTEN_FAILED',
    'SERVER_CLOSED',
    'CLOCK_BUSY',
    'WAIT_TIMEOUT',
    'CONNECTION_LOST',
  ],
} as const;

type ClassName = keyof typeof codes;
/** The codes of one class. */
export type CodeOf<Name extends ClassName> = (typeof codes)[Name][number];

/** Every `code` of an error of this package. */
export type ErrorCode = CodeOf<ClassName>;

/** The codes of {@link ErrorCode} as values, in the order in which docs/errors.md lists them. */
export const errorCodes: readonly ErrorCode[] = /* @__PURE__ */ Object.freeze(
  // Two classes may share a code.
  /* @__PURE__ */ Array.from(/* @__PURE__ */ new Set(/* @__PURE__ */ Object.values(codes).flat())),
);

/** The `code` of a `CallbackVerificationError`: docs/errors.md says when each is set. */
export type CallbackVerificationErrorCode = CodeOf<'CallbackVerificationError'>;

/**
 * The `code` of a `StoreError`.
 *
 * - `REFERENCE_CONFLICT`: another payment is stored under this `merchantPaymentReference`; nothing was sent.
 * - `UNKNOWN_REFERENCE`: the store has no payment with this `merchantPaymentReference`.
 * - `STATE_CHANGED`: the payment has changed since it was looked up, or an attempt to send it may still be under way.
 * - `SECOND_PAYMENT`: an order has a second payment; look both up, and refund one if both are
 *   paid.
 * - `STORE_TIMEOUT`: the store did not answer in time.
 * - `LEASE_LOST`: the work took longer than its lease; another process may have run it too.
 * - `TRANSACTION_LOST`: the work ended or broke its transaction, or the connection was lost; nothing was
 *   recorded, unless the message says that this is unknown.
 * - `MISSING_TABLES`: the database lacks the store's tables, or has those of another version; call `setup()`
 *   or run the migration.
 * - `STORE_FAILED`: the store answered with an error; `cause` has it without what was sent.
 * - `CONTRACT_VIOLATION`: a store of your own broke the contract of `CallbackStore`.
 * - `WORK_TIMEOUT`: `onPayment` did not return in time. If it returns later, the change is recorded as
 *   processed then.
 * - `CHANGE_PARKED`: a change failed `parkAfter` times; it is acknowledged and kept, and waits for a replay.
 * - `CHANGE_OVERDUE`: a change that is more than ten minutes old was not processed, because its payment is busy.
 * - `REPLAY_IMPOSSIBLE`: a change can't be replayed, because it is no longer kept, `prune` has removed its body, or
 *   the body is another change's.
 */
export type StoreErrorCode = CodeOf<'StoreError'>;

/**
 * The `code` of a `MockServerError`.
 *
 * - `PORT_IN_USE`: another process listens on `port`.
 * - `LISTEN_FAILED`: this machine can't listen on `host` and `port`.
 * - `SERVER_CLOSED`: the mock was closed; start another one.
 * - `CLOCK_BUSY`: another call is advancing the clock; await that first.
 * - `WAIT_TIMEOUT`: the awaited event did not happen in time.
 * - `CONNECTION_LOST`: a fault broke the connection.
 */
export type MockServerErrorCode = CodeOf<'MockServerError'>;
