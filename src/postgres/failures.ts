import { StoreError } from '../errors.js';
import { innermostError } from '../store/providers/driver-errors.js';
import { ServerFailures, wasNeverSent } from '../store/sql/server-failures.js';
import { TransactionOpen } from '../store/sql/transaction-open.js';

// A digit is required, because EPIPE has five letters too.
const SQL_STATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** The SQLSTATE of a driver's error, such as `25P02`; undefined if the error is not from Postgres. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && SQL_STATE.test(code) ? code : undefined;
}

/**
 * Finds the error of Postgres in that of an ORM. Copies it without the statement, which PGlite adds; otherwise returns
 * the error unchanged.
 */
export function databaseErrorOf(error: unknown): unknown {
  const isOfServer = (inner: unknown): boolean => sqlStateOf(inner) !== undefined;
  const found = innermostError(error, isOfServer, (made, { code }) =>
    sqlStateOf({ code }) === undefined ? made : Object.assign(made, { code }),
  );
  const code = sqlStateOf(found);
  if (code === undefined) return found;
  return Object.assign(new Error(String((found as Error).message)), { code });
}

/** The error of an ORM without a statement. */
export function errorOfOrm(error: unknown): unknown {
  const found = databaseErrorOf(error);
  return sqlStateOf(found) === undefined ? failures.unanswered(error) : found;
}

// The server has become a standby or refuses writes, or a cached plan is for an older schema. A new
// connection may reach another server, and has no cached plans.
const READ_ONLY = '25006';
const FEATURE_NOT_SUPPORTED = '0A000';

/** Whether a statement was refused because its transaction, or the server, is read-only. */
export function isReadOnly(error: unknown): boolean {
  return sqlStateOf(databaseErrorOf(error)) === READ_ONLY;
}

/** Whether further statements on the same connection would fail too. */
export function spoilsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === READ_ONLY || state === FEATURE_NOT_SUPPORTED || isConnectionEnd(state);
}

// Postgres ends the connection, possibly after a COMMIT.
const CONNECTION_ENDED = /^(?:08|57P0)/;
const IDLE_TOO_LONG = '25P03';
const IN_FAILED_TRANSACTION = '25P02';
const NO_TRANSACTION = '25P01';
const NO_SAVEPOINT = '3B001';
const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';
// For roles whose default is REPEATABLE READ or SERIALIZABLE.
const SERIALIZATION_FAILURE = '40001';
// By a statement_timeout or a person.
const QUERY_CANCELED = '57014';
// UNDEFINED_DATABASE, UNDEFINED_SCHEMA, UNDEFINED_TABLE, UNDEFINED_COLUMN.
const MISSING: readonly unknown[] = ['3D000', '3F000', '42P01', '42703'];

function isConnectionEnd(state: string | undefined): boolean {
  return state !== undefined && (CONNECTION_ENDED.test(state) || state === IDLE_TOO_LONG);
}

/** Whether a transaction failed because the connection was lost, or could not be made. */
export function isLost(error: unknown): boolean {
  // The caller's own mistake, which another try would hide.
  if (error instanceof TransactionOpen) return false;
  if (error instanceof StoreError) {
    if (error.code === 'TRANSACTION_LOST') return true;
    return error.code === 'STORE_FAILED' && wasNeverSent(error) && isLost(error.cause);
  }
  const state = sqlStateOf(databaseErrorOf(error));
  return state === undefined ? !isProgramError(error) : isConnectionEnd(state);
}

/** A TypeError, or the like, that another try would only repeat. */
function isProgramError(error: unknown): boolean {
  return error instanceof TypeError || error instanceof RangeError || error instanceof SyntaxError;
}

/** Whether a statement was rolled back for a reason that may be over. */
export function isUndone(error: unknown): boolean {
  const state = sqlStateOf(databaseErrorOf(error));
  return state === DEADLOCK_DETECTED || state === SERIALIZATION_FAILURE;
}

/** Whether a claim failed because another transaction holds the order. */
export function isBusy(
  error: unknown,
  wait: { readonly waitedMs: number; readonly lockTimeoutMs: number },
): boolean {
  const state = sqlStateOf(error);
  if (state !== QUERY_CANCELED) return state === LOCK_NOT_AVAILABLE || state === DEADLOCK_DETECTED;
  failures.assertUsedUp(wait, error);
  return true;
}

const REMEDIES: Readonly<Record<string, string>> = {
  '42501':
    'Give the role USAGE on the schema, and GRANT SELECT, INSERT, UPDATE, DELETE on the tables of the store; setup() also needs CREATE on the schema, and to own a table that lacks something',
  '57014':
    'The statement_timeout of the role, the pool or the server is too short, or someone cancelled the statement: give the connections of the store one that is longer than commandTimeoutMs',
  [READ_ONLY]: 'The server is read-only, such as a standby: connect to the primary',
  '53100': 'The disk of the server is full: free space on it',
};

/** The errors of Postgres, for users. */
export const failures: ServerFailures = /* @__PURE__ */ new ServerFailures({
  name: 'Postgres',
  poolRemedy:
    "set the pool's connectionTimeoutMillis: without it, a connection that is never established keeps its place in the pool",
  deadlineRemedy: "the pool's query_timeout",
  endedBy: 'COMMIT or ROLLBACK',
  schema: 'postgresSchema() (with the default prefix: postgres/schema.sql of this package)',
  statementLimits: 'statement_timeout',
  remedyFor: (error) => REMEDIES[sqlStateOf(error) ?? ''],
  isRefusal(error) {
    const state = sqlStateOf(error);
    return state !== undefined && !isConnectionEnd(state);
  },
  isMissingTable: isMissing,
  isLockTimeout,
  databaseErrorOf,
  withoutStatement(error) {
    const found = databaseErrorOf(error);
    return sqlStateOf(found) === undefined ? undefined : (found as Error);
  },
});

/** Explains the error of the statements that end a transaction, COMMIT among them. */
export function explainFailedEnd(error: unknown): unknown {
  if (error instanceof StoreError && error.code === 'STORE_TIMEOUT') return error;
  const state = sqlStateOf(error);
  // Postgres had ended the session before the statement reached it.
  if (state === IDLE_TOO_LONG) return failures.connectionLost(error);
  if (state === undefined || isConnectionEnd(state)) return failures.endUnknown(error);
  if (state === IN_FAILED_TRANSACTION) return failures.transactionAborted(error);
  return state === NO_SAVEPOINT || state === NO_TRANSACTION ? failures.transactionEnded() : error;
}

/** Explains the error of a statement that comes before COMMIT was sent. */
export function explainFailedRecord(error: unknown): unknown {
  const state = sqlStateOf(error);
  return state === undefined || isConnectionEnd(state)
    ? failures.connectionLost(error)
    : explainFailedEnd(error);
}

/** Whether a statement failed because the database, a table or a column does not exist. */
export function isMissing(error: unknown): boolean {
  return MISSING.includes(sqlStateOf(databaseErrorOf(error)));
}

/** Whether a lock was not granted in time. */
export function isLockTimeout(error: unknown): boolean {
  return sqlStateOf(databaseErrorOf(error)) === LOCK_NOT_AVAILABLE;
}
