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
    'WORK_TIMEOUT',
    'CHANGE_PARKED',
    'REPLAY_IMPOSSIBLE',
  ],
  RetryLaterError: ['RETRY_LATER'],
  MockServerError: ['PORT_IN_USE', 'SERVER_CLOSED', 'WAIT_TIMEOUT'],
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

/** The `code` of a `StoreError`: docs/errors.md says when each is set. */
export type StoreErrorCode = CodeOf<'StoreError'>;

/** The `code` of a `MockServerError`: docs/errors.md says when each is set. */
export type MockServerErrorCode = CodeOf<'MockServerError'>;
