import { StoreError } from '../errors.js';
import { innermostError } from '../store/providers/driver-errors.js';

/** The server's error number, such as 1213; undefined if the error is not from the server. */
export function errnoOf(error: unknown): number | undefined {
  const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
  // Node's own errors have a negative errno, and no SQLSTATE.
  return typeof errno === 'number' && typeof sqlState === 'string' ? errno : undefined;
}

/** Finds the server's error in that of an ORM, without the statement; otherwise returns the error unchanged. */
export function databaseErrorOf(error: unknown): unknown {
  const isOfServer = (inner: unknown): boolean => errnoOf(inner) !== undefined;
  const found = innermostError(error, isOfServer, (made, { code, state, message }) => {
    if (!/^\d+$/.test(String(code))) return made;
    const sqlState = typeof state === 'string' ? state : 'HY000';
    return Object.assign(made, { errno: Number(code), sqlState, sqlMessage: message });
  });
  return withoutStatement(found);
}

/** Copies a server error without the statement, which the driver adds to it. */
export function withoutStatement(error: unknown): unknown {
  if (errnoOf(error) === undefined) return error;
  const { code, errno, sqlState, sqlMessage } = error as Record<string, unknown>;
  return Object.assign(new Error(String(sqlMessage)), { code, errno, sqlState, sqlMessage });
}

/** A write in a read-only transaction, as in a session whose transactions are read-only by default. */
export const READ_ONLY_TRANSACTION = 1792;
// The server has become a replica or refuses writes: a new connection may reach another server.
const READ_ONLY: readonly unknown[] = [1290, READ_ONLY_TRANSACTION, 1836];

/** Whether further statements on the same connection would fail too. */
export function spoilsConnection(error: unknown): boolean {
  return READ_ONLY.includes(errnoOf(error));
}

// ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED of MariaDB, ER_SESSION_WAS_KILLED and
// ER_CLIENT_INTERACTION_TIMEOUT of MySQL: the server ends the connection, possibly after a COMMIT.
const CONNECTION_ENDED: readonly unknown[] = [1053, 1927, 3169, 4031];

/** Whether the connection is lost after this error: its next answer may belong to an earlier statement. */
export function losesConnection(error: unknown): boolean {
  const errno = errnoOf(error);
  if (errno === undefined || CONNECTION_ENDED.includes(errno)) return true;
  // The mariadb package has its own error numbers for socket errors.
  return String((error as { sqlState?: unknown }).sqlState).startsWith('08');
}

// ER_BAD_DB_ERROR and ER_NO_SUCH_TABLE; ER_BAD_FIELD_ERROR for a table of another version.
const MISSING: readonly unknown[] = [1049, 1146, 1054];

/** Whether a statement failed because its table does not exist, or has other columns. */
export function isMissingTable(error: unknown): boolean {
  return MISSING.includes(errnoOf(error));
}

const PARSE_ERROR = 1064;

/** The message for a server that can't parse the statements; undefined for any other error. */
export function misunderstanding(error: unknown, owner: 'inbox' | 'outbox'): string | undefined {
  if (errnoOf(error) !== PARSE_ERROR) return undefined;
  return `The server does not understand the SQL of the ${owner}, and nothing was done: the sql_mode of the pool's sessions contains ORACLE, which changes the syntax, or the server is older than MySQL 8.0 or MariaDB 10.6. Remove ORACLE from sql_mode, at least for this pool`;
}

/** A wait for a lock took too long: the server has rolled back the statement. */
export const LOCK_WAIT_TIMEOUT = 1205;
/** A deadlock, after which the server has rolled back the whole transaction. */
export const DEADLOCK = 1213;
/**
 * ER_SP_DOES_NOT_EXIST: the savepoint with which the transaction began is gone. It is also the error for a missing
 * procedure, so our procedures raise {@link OUTSIDE_CLAIM} instead.
 */
export const NO_SAVEPOINT = 1305;
/** The server can't run this statement as a prepared one. */
export const UNSUPPORTED_IN_PREPARED = 1295;
/** The SQLSTATE with which recording fails outside the claim's transaction. */
export const OUTSIDE_CLAIM = 'MP001';

/** Explains the error of recording the event or of the COMMIT after it. */
export function explainFailedEnd(error: unknown): unknown {
  if (error instanceof StoreError && error.code === 'STORE_TIMEOUT') return error;
  if (losesConnection(error)) return endUnknown(error);
  if (errnoOf(error) === NO_SAVEPOINT) return transactionEnded(error);
  return (error as { sqlState?: unknown }).sqlState === OUTSIDE_CLAIM
    ? transactionEnded(error)
    : error;
}

/** Explains the error of a statement that records the event, before COMMIT was sent. */
export function explainFailedRecord(error: unknown): unknown {
  return losesConnection(error) ? connectionLost(error) : explainFailedEnd(error);
}

/** The ORM has reported a commit that the database does not confirm. */
export function unconfirmedEnd(cause?: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `The database did not confirm the COMMIT of the transaction; ${UNKNOWN_END}`,
    { cause },
  );
}

/** A statement of the work made the server roll back the transaction after the event was recorded in it. */
export function notCommitted(): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'The transaction was rolled back before its COMMIT, for example by a deadlock in a query that the work did not await; nothing was recorded, and a later delivery runs the work again. Await every query',
  );
}

/** The server can't run SAVEPOINT as a prepared statement. */
export function savepointsRefused(orm: string, cause: unknown): StoreError {
  return new StoreError(
    'STORE_FAILED',
    `${orm} uses prepared statements, and the database can't prepare SAVEPOINT, so nothing was processed; with Prisma set useTextProtocol: new PrismaMariaDb(config, { useTextProtocol: true })`,
    { cause },
  );
}

export function noConnectionInTime(acquireTimeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The pool provided no connection within acquireTimeoutMs (${acquireTimeoutMs} ms), so nothing was processed; make the pool larger (connectionLimit), find what holds its connections, or look for what keeps it from connecting`,
  );
}

export function noAnswerInTime(timeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The database did not answer within ${timeoutMs} ms, so the connection was closed and nothing was processed; check the server and the network, or raise commandTimeoutMs`,
  );
}

export function noEndOfWorkInTime(timeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The transaction was not over within transactionTimeoutMs (${timeoutMs} ms), so the connection was closed; nothing was recorded, and a later delivery runs the work again. Give the statements of your work a deadline (timeout in mysql2's query options), or raise transactionTimeoutMs`,
  );
}

const UNKNOWN_END =
  'whether it was recorded is unknown. The service retries: the retry is a duplicate if it was recorded, and runs the work again if not';

export function noEndInTime(timeoutMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The database did not answer COMMIT within commandTimeoutMs (${timeoutMs} ms), so the connection was closed; ${UNKNOWN_END}`,
  );
}

function endUnknown(cause: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    `The connection to the database was lost while the change was being recorded; ${UNKNOWN_END}`,
    // If a loss was already described, keep only the driver's error.
    { cause: cause instanceof StoreError ? cause.cause : cause },
  );
}

export function connectionLost(cause: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'The connection to the database was lost while the work was running, and its transaction with it; nothing was recorded, and a later delivery runs the work again. Stop the work when its signal aborts, and let it send a statement on tx at least every idleTimeoutMs: waiting for a second connection of a full pool takes longer',
    { cause },
  );
}

export function transactionGone(): StoreError {
  return connectionLost(new Error('the session has ended at the server'));
}

export function transactionEnded(cause?: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'The work ended the transaction it was given, by COMMIT, ROLLBACK or a statement that commits implicitly (CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES), perhaps in a procedure; nothing was recorded, and a later delivery runs the work again. Let the inbox end the transaction: throw to undo everything, use SAVEPOINT and ROLLBACK TO SAVEPOINT to undo a part',
    { cause },
  );
}

export function rolledBackByDeadlock(cause: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'A statement of the work met a deadlock and the work continued, but a deadlock rolls back the whole transaction; nothing was recorded, and a later delivery runs the work again. Let the error through',
    { cause: withoutStatement(cause) },
  );
}

export function rolledBackByTimeout(cause: unknown): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'A statement of the work waited too long for a lock and the work continued, but this server then rolls back the whole transaction (innodb_rollback_on_timeout); nothing was recorded, and a later delivery runs the work again. Let the error through, or turn that setting off',
    { cause: withoutStatement(cause) },
  );
}
