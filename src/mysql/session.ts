import type { ClaimLimits } from '../store/sql/transactions.js';

const NAME = 'merchant_payments';
/** Set after the claim and before the work. It ends with the transaction, and so shows whether that is still open. */
export const SAVEPOINT = `SAVEPOINT ${NAME}`;

/**
 * The statement that sets the limits of a session: for its next statement, and for the lock of a table that another
 * session is altering. The server's defaults are hours for an idle session, and a day or a year for such a table.
 */
export function limitsOf({ lockTimeoutMs, idleTimeoutMs }: ClaimLimits): string {
  // Whole seconds, the server's unit.
  const [lockSeconds, idleSeconds] = [lockTimeoutMs, idleTimeoutMs].map((ms) =>
    Math.ceil(ms / 1000),
  );
  return `SET @merchant_payments_wait_timeout = @@SESSION.wait_timeout,
  @merchant_payments_lock_wait_timeout = @@SESSION.lock_wait_timeout,
  @merchant_payments_innodb_timeout = @@SESSION.innodb_lock_wait_timeout,
  SESSION wait_timeout = CAST(LEAST(@@SESSION.wait_timeout, ${idleSeconds}) AS SIGNED),
  SESSION lock_wait_timeout = CAST(LEAST(@@SESSION.lock_wait_timeout, ${lockSeconds}) AS SIGNED),
  SESSION innodb_lock_wait_timeout = CAST(IF(VERSION() LIKE '%MariaDB%', @@SESSION.innodb_lock_wait_timeout,
    LEAST(@@SESSION.innodb_lock_wait_timeout, ${lockSeconds})) AS SIGNED)`;
}

/** Restores the session's own limits. */
export const RESTORE = `SET SESSION wait_timeout = CAST(COALESCE(@merchant_payments_wait_timeout, @@SESSION.wait_timeout) AS SIGNED),
  SESSION lock_wait_timeout = CAST(COALESCE(@merchant_payments_lock_wait_timeout, @@SESSION.lock_wait_timeout) AS SIGNED),
  SESSION innodb_lock_wait_timeout = CAST(COALESCE(@merchant_payments_innodb_timeout, @@SESSION.innodb_lock_wait_timeout) AS SIGNED)`;

/**
 * The statements that begin a transaction, whatever the session's defaults are. READ COMMITTED, because at
 * REPEATABLE READ a locking read of a missing row locks the gap into which others insert. The first one fails in a
 * transaction that other code forgot to end, and the second one unlocks tables that it forgot to unlock.
 */
export const READ_COMMITTED = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED';
export const START = 'START TRANSACTION READ WRITE';

/**
 * Limits the session, and does what those two do by the next statement, which begins a transaction without autocommit:
 * one message in place of three. Assignments without a scope must come first. The names are those of MariaDB 10.6 and
 * of MySQL.
 */
export function beginLimited(limits: ClaimLimits): string {
  return `SET /*M! @@tx_isolation = 'READ-COMMITTED', @@tx_read_only = 0, *//*!80000 @@transaction_isolation = 'READ-COMMITTED', @@transaction_read_only = 0, */
  @merchant_payments_autocommit = @@SESSION.autocommit, SESSION autocommit = 0, ${limitsOf(limits).slice('SET '.length)}`;
}

/**
 * Restores the session after such a transaction. Not in place of its COMMIT: that would leave the isolation level to
 * the next transaction.
 */
export const RESTORE_ALL = `${RESTORE},
  SESSION autocommit = COALESCE(@merchant_payments_autocommit, @@SESSION.autocommit)`;

/** Independent of the session's `completion_type`. */
export const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE';
export const ROLLBACK = 'ROLLBACK AND NO CHAIN NO RELEASE';

/** The current time in epoch microseconds, independent of the session's time zone. */
export const NOW_US = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

/**
 * Limits the time for which an INSERT may wait for a row, by a clause of MariaDB. MySQL has none, and no hint for the
 * setting either, so there it is the session's limit.
 */
export function atMost(timeoutMs: number, insert: string): string {
  return `/*M!100600 SET STATEMENT max_statement_time = ${timeoutMs / 1000} FOR */${insert}`;
}

/** The statements that end the work, which fail if the transaction has ended. */
export function leaveSavepoint(undo: boolean): readonly string[] {
  return undo ? [`ROLLBACK TO SAVEPOINT ${NAME}`] : [`RELEASE SAVEPOINT ${NAME}`];
}
