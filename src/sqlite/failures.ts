import { InvalidOptionError, MerchantPaymentsError, type StoreError } from '../errors.js';
import { failed, late, lost, missing } from '../store/errors.js';
import { isLocked } from './database.js';

const REMEDY = 'Keep transactions short, none open across an await';

// SQLite has no error codes for these.
const MISSING = /no such (?:table|column)|has no column named/;

/** Converts the failure of a step, which SQLite has undone, to an error for users. */
export function explain(cause: unknown): unknown {
  if (cause instanceof MerchantPaymentsError) return cause;
  if (cause instanceof Error && MISSING.test(cause.message)) {
    return missing(
      'A table or column of the store is missing in the file, and nothing was written; see cause. Call setup() once, with the same prefix',
      cause,
    );
  }
  // A step in the store's own transaction has waited by now.
  if (isLocked(cause)) {
    return late(
      'Another connection had locked the file, and nothing was written. Roll your transaction back and repeat it with BEGIN IMMEDIATE, which waits',
      cause,
    );
  }
  return failed('SQLite refused a step of the store, and nothing was written; see cause', cause);
}

/** Runs a step, and converts its failure. */
export function explained<Value>(step: () => Value): Value {
  try {
    return step();
  } catch (error) {
    throw explain(error);
  }
}

export const stillBlocked = (blocker: string, cause: unknown, patienceMs: number) =>
  late(`Nothing was written within ${patienceMs} ms, because ${blocker}. ${REMEDY}`, cause);

export const notRecorded = (blocker: string, cause: unknown) =>
  late(
    `The work is done, but ${blocker} until its lease expired; nothing was recorded. Keep transactions short`,
    cause,
  );

export function notKept(blocker: string, cause: unknown, patienceMs: number): StoreError {
  const forSeconds = patienceMs === 0 ? '' : ` for ${patienceMs / 1_000} s`;
  const text = `The change's failure was not stored: ${blocker}${forSeconds}`;
  return late(`${text}. Keep transactions short`, cause);
}

export const leftOpen = () =>
  lost(
    'A transaction was still open on the connection when the work returned; nothing was recorded: end it before the work returns, or use another connection',
  );

export function inTransaction(): InvalidOptionError {
  return new InvalidOptionError(
    'database',
    'database must not be in a transaction when a callback arrives, because a rollback would also undo the claim: end the transaction before an await, or give the store its own connection',
  );
}

export function noTransaction(): InvalidOptionError {
  return new InvalidOptionError(
    'database',
    'database must have your transaction open when record is called with sync; received one without a transaction',
  );
}

export function invalidTx(received: string): InvalidOptionError {
  return new InvalidOptionError(
    'tx',
    `tx must be the database that the store was made from, with your transaction open on it; received ${received}`,
  );
}

export function invalidAnswer(): InvalidOptionError {
  return new InvalidOptionError(
    'database',
    'database must answer a query with its rows at once; received something else: use a DatabaseSync of node:sqlite or a Database of better-sqlite3',
  );
}
