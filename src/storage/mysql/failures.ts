import { InboxError } from '../../errors.js';

/** The server's number of an error, such as 1213; undefined when it is not the server that has answered. */
export function errnoOf(error: unknown): number | undefined {
  const { errno, sqlState } = (error ?? {}) as { errno?: unknown; sqlState?: unknown };
  // Node's own errors have a negative errno, and no SQLSTATE.
  return typeof errno === 'number' && typeof sqlState === 'string' ? errno : undefined;
}

/** The driver's error without what was sent, which it adds to those of the server. */
export function withoutStatement(error: unknown): unknown {
  if (errnoOf(error) === undefined) return error;
  const { code, errno, sqlState, sqlMessage } = error as Record<string, unknown>;
  return Object.assign(new Error(String(sqlMessage)), { code, errno, sqlState, sqlMessage });
}

// The server is a replica now, or refuses to write: the next connection may be of another server.
const READ_ONLY: readonly unknown[] = [1290, 1792, 1836];

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
  return errno === undefined || CONNECTION_ENDED.includes(errno);
}

/** A deadlock, after which the server has rolled back the whole transaction. */
export const DEADLOCK = 1213;
// The savepoint that the transaction began with is gone: ER_SP_DOES_NOT_EXIST, which procedures turn into
// the SQLSTATE, as it is also the error of a procedure that does not exist.
const NO_SAVEPOINT = 1305;
/** The SQLSTATE with which recording fails outside the claim's transaction. */
export const OUTSIDE_CLAIM = 'MP001';

/** What it means for the callback that the record, or the COMMIT behind it, failed. */
export function explainFailedEnd(error: unknown): unknown {
  if (error instanceof InboxError && error.code === 'INBOX_TIMEOUT') return error;
  if (losesConnection(error)) return endUnknown(error);
  if (errnoOf(error) === NO_SAVEPOINT) return transactionEnded(error);
  return (error as { sqlState?: unknown }).sqlState === OUTSIDE_CLAIM
    ? transactionEnded(error)
    : error;
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
    `The connection to the database was lost while the callback was being recorded; ${UNKNOWN_END}`,
    // Of a loss that is described already: what the driver said.
    { cause: cause instanceof InboxError ? cause.cause : cause },
  );
}

export function connectionLost(cause: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'The connection to the database was lost while the callback was being processed, and its transaction with it; nothing was recorded, and a later delivery runs the work again. Stop the work when its signal aborts',
    { cause },
  );
}

export function transactionEnded(cause?: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'The work ended the transaction it was given, by COMMIT, ROLLBACK or a statement that commits as a side effect (CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES), perhaps in a procedure; the callback was not recorded, and a later delivery runs the work again. Leave the end to the inbox: throw to undo everything, use SAVEPOINT and ROLLBACK TO SAVEPOINT to undo a part',
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
