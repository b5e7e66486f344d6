import { InboxError, InvalidOptionError } from '../../errors.js';
import { OUTSIDE_CLAIM } from './statements.js';

// EPIPE, which has as many letters, has no digit.
const SQL_STATE = /^(?=.*\d)[0-9A-Z]{5}$/;

/** The SQLSTATE of a driver's error, `25P02`; undefined when it is not Postgres that has answered. */
export function sqlStateOf(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' && SQL_STATE.test(code) ? code : undefined;
}

// The server is a standby now, or refuses to write; a plan or a statement is of another schema. The
// next connection may be of another server, and forgets prepared statements.
const READ_ONLY = '25006';
const FEATURE_NOT_SUPPORTED = '0A000';

/** Whether the connection on which the statement failed will go on failing. */
export function spoilsConnection(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === READ_ONLY || state === FEATURE_NOT_SUPPORTED;
}

// Postgres ends the connection, which it may do after a COMMIT too.
const CONNECTION_ENDED = /^(?:08|57P0)/;
const IN_FAILED_TRANSACTION = '25P02';

/** What it means for the callback that the record, or the COMMIT behind it, failed. */
export function explainFailedEnd(error: unknown): unknown {
  if (error instanceof InboxError && error.code === 'INBOX_TIMEOUT') return error;
  const state = sqlStateOf(error);
  if (state === undefined || CONNECTION_ENDED.test(state)) return endUnknown(error);
  if (state === IN_FAILED_TRANSACTION) return transactionAborted(error);
  return OUTSIDE_CLAIM.includes(state) ? transactionEnded() : error;
}

const UNDEFINED_SCHEMA = '3F000';
const UNDEFINED_TABLE = '42P01';

/** Whether a statement failed because there is no such table. */
export function isMissingTable(error: unknown): boolean {
  const state = sqlStateOf(error);
  return state === UNDEFINED_TABLE || state === UNDEFINED_SCHEMA;
}

/** Throws the error of a statement on our own table on, and says what to do when there is no table. */
export function explainMissing(option: string, error: unknown): never {
  if (!isMissingTable(error)) throw error;
  throw new InvalidOptionError(
    option,
    `${option} names a table that does not exist, or is not on the search_path; call setup() of the inbox once before its first callback, or run the SQL of postgresInboxSchema() (with the default names: schema.sql of this package)`,
    { cause: error },
  );
}

export function noConnectionInTime(acquireTimeoutMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `The pool gave no connection within acquireTimeoutMs (${acquireTimeoutMs} ms), so nothing was processed; make the pool larger, find what keeps its connections, or set the pool's connectionTimeoutMillis: without it a connection that is never established keeps its place`,
  );
}

export function noAnswerInTime(timeoutMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `Postgres gave no answer within ${timeoutMs} ms, so the connection was closed and nothing was processed; look after the server and the way to it, or raise commandTimeoutMs`,
  );
}

const UNKNOWN_END =
  'whether it was recorded is not known. The service retries, and the retry is a duplicate if it was; if not, it runs the work again';

export function noEndInTime(timeoutMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `Postgres gave no answer to COMMIT within commandTimeoutMs (${timeoutMs} ms), so the connection was closed; ${UNKNOWN_END}`,
  );
}

function endUnknown(cause: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    `The connection to Postgres was lost while the callback was being recorded; ${UNKNOWN_END}`,
    // Of the loss that is told already: what the driver said.
    { cause: cause instanceof InboxError ? cause.cause : cause },
  );
}

export function setupBlocked(cause: unknown): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    'setup() got no lock on a table that callbacks are being processed with, to make its missing index; call it again when they have ended, or make it by CREATE INDEX CONCURRENTLY, named as in postgresInboxSchema()',
    { cause },
  );
}

export function connectionLost(cause: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'The connection to Postgres was lost while the callback was being processed, and its transaction with it; nothing was recorded, and a later delivery runs the work again. Stop the work when its signal aborts',
    { cause },
  );
}

export function transactionEnded(): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'The work ended the transaction it was given (COMMIT or ROLLBACK); the callback was not recorded, and a later delivery runs the work again. Leave the end to the inbox: throw to undo everything, use SAVEPOINT and ROLLBACK TO SAVEPOINT to undo a part',
  );
}

export function transactionAborted(cause?: unknown): InboxError {
  return new InboxError(
    'TRANSACTION_LOST',
    'A statement of the work failed and the work went on, but Postgres undoes the whole transaction after a failed statement; nothing was recorded, and a later delivery runs the work again. Let the error through, or set a SAVEPOINT before a statement that may fail and ROLLBACK TO SAVEPOINT after it did',
    { cause },
  );
}
