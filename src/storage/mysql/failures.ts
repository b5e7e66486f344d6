import { InboxError } from '../../errors.js';
import { innermostError } from '../providers/driver-errors.js';

/** The server's number of an error, such as 1213; undefined when it is not the server that has answered. */
export function errnoOf(error: unknown): number | undefined {
  const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
  // Node's own errors have a negative errno, and no SQLSTATE.
  return typeof errno === 'number' && typeof sqlState === 'string' ? errno : undefined;
}

/** The server's error in that of an ORM, without what was sent; else what was thrown. */
export function databaseErrorOf(error: unknown): unknown {
  const isOfServer = (inner: unknown): boolean => errnoOf(inner) !== undefined;
  const found = innermostError(error, isOfServer, (made, { code, state, message }) => {
    if (!/^\d+$/.test(String(code))) return made;
    const sqlState = typeof state === 'string' ? state : 'HY000';
    return Object.assign(made, { errno: Number(code), sqlState, sqlMessage: message });
  });
  return withoutStatement(found);
}

/** The driver's error without what was sent, which it adds to those of the server. */
export function withoutStatement(error: unknown): unknown {
  if (errnoOf(error) === undefined) return error;
  const { code, errno, sqlState, sqlMessage } = error as Record<string, unknown>;
  return Object.assign(new Error(String(sqlMessage)), { code, errno, sqlState, sqlMessage });
}

/** A transaction that may not write, as each is of a session that is set so. */
export const READ_ONLY_TRANSACTION = 1792;
// The server is a replica now, or refuses to write: the next connection may be of another server.
const READ_ONLY: readonly unknown[] = [1290, READ_ONLY_TRANSACTION, 1836];

/** Whether further statements on the same connection will fail as well. */
export function spoilsConnection(error: unknown): boolean {
  return READ_ONLY.includes(errnoOf(error));
}

// ER_SERVER_SHUTDOWN, ER_CONNECTION_KILLED of MariaDB, ER_SESSION_WAS_KILLED and
// ER_CLIENT_INTERACTION_TIMEOUT of MySQL: the server ends the connection, which it may do after a COMMIT too.
const CONNECTION_ENDED: readonly unknown[] = [1053, 1927, 3169, 4031];

/** Whether an error means that there is no knowing what the connection's next answer will be to. */
export function losesConnection(error: unknown): boolean {
  const errno = errnoOf(error);
  if (errno === undefined || CONNECTION_ENDED.includes(errno)) return true;
  // The mariadb package gives numbers of its own to what happens to a socket.
  return String((error as { sqlState?: unknown }).sqlState).startsWith('08');
}

/** No provider on MySQL has `rejectsOnLoss`. */
export function mayBeLoss(): boolean {
  return false;
}

// ER_BAD_DB_ERROR, ER_NO_SUCH_TABLE; and ER_BAD_FIELD_ERROR for a table of another version.
const MISSING: readonly unknown[] = [1049, 1146, 1054];

/** Whether a statement failed because there is no such table, or one with other columns. */
export function isMissingTable(error: unknown): boolean {
  return MISSING.includes(errnoOf(error));
}

const PARSE_ERROR = 1064;

/** Why the server does not understand the statements, and what to do; undefined where it does. */
export function misunderstanding(error: unknown, owner: 'inbox' | 'outbox'): string | undefined {
  if (errnoOf(error) !== PARSE_ERROR) return undefined;
  return `The server does not understand the SQL of the ${owner}, and nothing was done: the sql_mode of the pool's sessions has ORACLE, which is another language, or the server is older than MySQL 8.0 or MariaDB 10.6. Take ORACLE out of sql_mode, for this pool at least`;
}

/** A wait for a lock was too long: the server has undone the statement. */
export const LOCK_WAIT_TIMEOUT = 1205;
/** A deadlock, after which the server has rolled back the whole transaction. */
export const DEADLOCK = 1213;
/**
 * The savepoint that the transaction began with is gone: ER_SP_DOES_NOT_EXIST, which procedures turn into the
 * SQLSTATE, as it is also the error of a procedure that does not exist.
 */
export const NO_SAVEPOINT = 1305;
/** A statement that the server does not prepare. */
export const UNSUPPORTED_IN_PREPARED = 1295;
/** The SQLSTATE with which recording fails outside the claim's transaction. */
export const OUTSIDE_CLAIM = 'MP001';

/** What it means that the record, or the COMMIT behind it, failed. */
export function explainFailedEnd(error: unknown): unknown {
  if (error instanceof InboxError && error.code === 'INBOX_TIMEOUT') return error;
  if (losesConnection(error)) return endUnknown(error);
  if (errnoOf(error) === NO_SAVEPOINT) return transactionEnded(error);
  return (error as { sqlState?: unknown }).sqlState === OUTSIDE_CLAIM
    ? transactionEnded(error)
    : error;
}

/** What it means that a statement of the record failed, before COMMIT was sent. */
export function explainFailedRecord(error: unknown): unknown {
  return losesConnection(error) ? connectionLost(error) : explainFailedEnd(error);
}

/** A transaction is not there whose COMMIT an ORM had no error for. */
export function unconfirmedEnd(cause?: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    `The database did not confirm the COMMIT of the transaction; ${UNKNOWN_END}`,
    { cause },
  );
}

/** A statement of the work has had the transaction rolled back after it was recorded. */
export function notCommitted(): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'The transaction was rolled back before its COMMIT, as by a deadlock that a query met which the work has not awaited; nothing was recorded, and a later delivery runs the work again. Await every query',
  );
}

/** SAVEPOINT is not a statement that the server prepares. */
export function savepointsRefused(orm: string, cause: unknown): InboxError {
  return new InboxError(
    'STORE_FAILED',
    `${orm} sends its statements as prepared ones, and the database prepares no SAVEPOINT, so nothing was processed; with Prisma set useTextProtocol: new PrismaMariaDb(config, { useTextProtocol: true })`,
    { cause },
  );
}

export function noConnectionInTime(acquireTimeoutMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `The pool gave no connection within acquireTimeoutMs (${acquireTimeoutMs} ms), so nothing was processed; make the pool larger (connectionLimit), find what holds its connections, or look for what keeps it from connecting`,
  );
}

export function noAnswerInTime(timeoutMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `The database gave no answer within ${timeoutMs} ms, so the connection was closed and nothing was processed; check the server and the network, or raise commandTimeoutMs`,
  );
}

export function noEndOfWorkInTime(timeoutMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `The transaction was not over within transactionTimeoutMs (${timeoutMs} ms), so the connection was closed; nothing was recorded, and a later delivery runs the work again. Give the statements of your work a deadline (timeout in mysql2's query options), or raise transactionTimeoutMs`,
  );
}

const UNKNOWN_END =
  'whether it was recorded is not known. The service retries, and the retry is a duplicate if it was; if not, it runs the work again';

export function noEndInTime(timeoutMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `The database gave no answer to COMMIT within commandTimeoutMs (${timeoutMs} ms), so the connection was closed; ${UNKNOWN_END}`,
  );
}

function endUnknown(cause: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    `The connection to the database was lost while the change was being recorded; ${UNKNOWN_END}`,
    // Of a loss that is described already: what the driver said.
    { cause: cause instanceof InboxError ? cause.cause : cause },
  );
}

export function connectionLost(cause: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'The connection to the database was lost while the work was running, and its transaction with it; nothing was recorded, and a later delivery runs the work again. Stop the work when its signal aborts, and let it send a statement on tx at least every idleTimeoutMs: waiting for a second connection of a full pool takes longer',
    { cause },
  );
}

export function transactionGone(): InboxError {
  return connectionLost(new Error('the session is over at the server'));
}

export function transactionEnded(cause?: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'The work ended the transaction it was given, by COMMIT, ROLLBACK or a statement that commits as a side effect (CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES), perhaps in a procedure; nothing was recorded, and a later delivery runs the work again. Let the inbox end the transaction: throw to undo everything, use SAVEPOINT and ROLLBACK TO SAVEPOINT to undo a part',
    { cause },
  );
}

export function rolledBackByDeadlock(cause: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'A statement of the work met a deadlock and the work went on, but the database undoes the whole transaction then; nothing was recorded, and a later delivery runs the work again. Let the error through',
    { cause: withoutStatement(cause) },
  );
}

export function rolledBackByTimeout(cause: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'A statement of the work waited too long for a lock and the work went on, but this server undoes the whole transaction then (innodb_rollback_on_timeout); nothing was recorded, and a later delivery runs the work again. Let the error through, or turn that setting off',
    { cause: withoutStatement(cause) },
  );
}
