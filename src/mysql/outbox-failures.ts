import { StoreError } from '../errors.js';
import { explainFailure, noAnswerInTime, type Server } from '../store/failures.js';
import {
  DEADLOCK,
  databaseErrorOf,
  errnoOf,
  isMissingTable,
  LOCK_WAIT_TIMEOUT,
  misunderstanding,
} from './failures.js';

const MYSQL: Server = {
  name: 'MySQL',
  poolRemedy: 'raise its connectionLimit',
  missingTables:
    "A table of the outbox, or the pool's database itself, does not exist, or a table lacks columns; create the database if it is missing, then call setup() of the outbox once before its first payment, or run the SQL of mysqlOutboxSchema() (with the default prefix: schema.sql of this package)",
  isMissingTable,
  // Without the server's message, which may quote a reference or a part of the statement.
  withoutStatement(error) {
    const found = databaseErrorOf(error) as {
      readonly code?: unknown;
      readonly sqlState?: unknown;
    };
    const errno = errnoOf(found);
    if (errno === undefined) return undefined;
    const { code, sqlState } = found;
    const name = typeof code === 'string' ? ` (${code})` : '';
    return Object.assign(new Error(`the server refused with ${errno}${name}`), {
      code,
      errno,
      sqlState,
    });
  },
};

/** Converts the failure of a step to an error for users. */
export function explain(error: unknown): unknown {
  const found = databaseErrorOf(error);
  const message = misunderstanding(found, 'outbox');
  if (message !== undefined) {
    return new StoreError('STORE_FAILED', message, { cause: MYSQL.withoutStatement(found) });
  }
  if (errnoOf(found) !== LOCK_WAIT_TIMEOUT) return explainFailure(error, MYSQL);
  return new StoreError(
    'STORE_TIMEOUT',
    "A step of the outbox waited for longer than the server's innodb_lock_wait_timeout, and nothing was done. Look for one of your transactions that recorded the same payment and is still open: commit it before create() or send()",
  );
}

/** The error for a step without an answer in time. */
export function noStepInTime(timeoutMs: number): StoreError {
  return noAnswerInTime(MYSQL, timeoutMs);
}

// ER_DUP_ENTRY; ER_TABLE_NOT_LOCKED_FOR_WRITE and ER_TABLE_NOT_LOCKED, after a forgotten LOCK TABLES on the session,
// which the start of a transaction releases.
const UNDONE: readonly unknown[] = [DEADLOCK, 1062, 1099, 1100];

/** Whether a single statement was rolled back that may succeed in a transaction. */
export function isUndone(error: unknown): boolean {
  return UNDONE.includes(errnoOf(databaseErrorOf(error)));
}

/** Whether the server has rolled back the whole transaction, so that it can be retried. */
export function isDeadlock(error: unknown): boolean {
  return errnoOf(databaseErrorOf(error)) === DEADLOCK;
}
