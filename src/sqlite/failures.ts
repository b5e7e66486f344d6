import { InvalidOptionError, MerchantPaymentsError, StoreError } from '../errors.js';
import { isLocked } from './database.js';

const REMEDY = 'Keep transactions short, and keep no transaction or iterate() open across an await';

// SQLite has no error codes for these.
const MISSING = /no such (?:table|column)|has no column named/;

/** Converts the failure of a step, which SQLite has undone, to an error for users. */
export function explain(cause: unknown): unknown {
  if (cause instanceof MerchantPaymentsError) return cause;
  if (cause instanceof Error && MISSING.test(cause.message)) {
    return new StoreError(
      'MISSING_TABLES',
      'A table of the store, or a column of one, is missing in the file, and nothing was written; see cause. Call setup() once before the first payment or callback, with the same prefix',
      { cause },
    );
  }
  // A step in the store's own transaction has waited by now.
  if (isLocked(cause)) {
    return new StoreError(
      'STORE_TIMEOUT',
      'Another connection had the file locked when your transaction first wrote to it, and nothing was written. Roll the transaction back and repeat it; one that begins with BEGIN IMMEDIATE can wait for the lock, for as long as the busy timeout of the connection',
      { cause },
    );
  }
  return new StoreError(
    'STORE_FAILED',
    'SQLite refused a step of the store, and nothing was written; see cause',
    { cause },
  );
}

/** Runs a step, and converts its failure. */
export function explained<Value>(step: () => Value): Value {
  try {
    return step();
  } catch (error) {
    throw explain(error);
  }
}

export function stillBlocked(blocker: string, cause: unknown, patienceMs: number): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `A step of the store could not run within ${patienceMs} ms, because ${blocker}, and nothing was written. ${REMEDY}`,
    { cause },
  );
}

export function notRecorded(blocker: string, cause: unknown): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The callback's work is done, but ${blocker} until the lease had expired; nothing was recorded. ${REMEDY}, or raise leaseMs`,
    { cause },
  );
}

export function notKept(blocker: string, cause: unknown, patienceMs: number): StoreError {
  const forSeconds = patienceMs === 0 ? '' : ` for ${patienceMs / 1_000} s`;
  return new StoreError(
    'STORE_TIMEOUT',
    `The failure of the change could not be stored: ${blocker}${forSeconds}. ${REMEDY}`,
    { cause },
  );
}

export function leftOpen(): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'A transaction was open on the connection of the store when the work returned; nothing was recorded, and a later delivery runs the work again. The transaction is still open, and the store neither commits it nor rolls it back: end it before the work returns, also when a statement fails, or give the store its own connection',
  );
}

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
