import { InboxError, InvalidOptionError } from '../../errors.js';

/** The SQLSTATE of a driver's error, when it is one: `25P02`. */
export function sqlStateOf(error: unknown): unknown {
  return (error as { code?: unknown } | null | undefined)?.code;
}

const UNDEFINED_TABLE = '42P01';

/** Throws the error of a statement on our own table on, and says what to do when there is no table. */
export function explainMissing(option: string, error: unknown): never {
  if (sqlStateOf(error) !== UNDEFINED_TABLE) throw error;
  throw new InvalidOptionError(
    option,
    `${option} names a table that does not exist, or is not on the search_path; call setup() of the inbox once before its first callback, or run the SQL of postgresInboxSchema() (with the default names: schema.sql of this package)`,
    { cause: error },
  );
}

export function noConnectionInTime(acquireTimeoutMs: number): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    `The pool gave no connection within acquireTimeoutMs (${acquireTimeoutMs} ms), so nothing was processed; make the pool larger, or find what keeps its connections`,
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
