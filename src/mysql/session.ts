/**
 * Begin a transaction, whatever the session's defaults are. READ COMMITTED, because at REPEATABLE READ a locking read of a
 * missing row locks the gap into which others insert. The first one fails in a transaction that other code forgot to end.
 */
export const READ_COMMITTED = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED';
export const START = 'START TRANSACTION READ WRITE';

/** Independent of the session's `completion_type`. */
export const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE';
export const ROLLBACK = 'ROLLBACK AND NO CHAIN NO RELEASE';

/** The current time in epoch microseconds, independent of the session's time zone. */
export const NOW_US = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

/** Limits the time for which a statement may wait for a row: by a clause of MariaDB, and in MySQL by a hint of SELECT. */
export function atMost(timeoutMs: number, statement: string): string {
  const hinted = statement.replace(/^SELECT /, `SELECT /*+ MAX_EXECUTION_TIME(${timeoutMs}) */ `);
  return `/*M!100600 SET STATEMENT max_statement_time = ${timeoutMs / 1000} FOR */${hinted}`;
}

/** Whether the server is a MariaDB that runs a {@link block}. A comment that MariaDB alone executes passes every proxy. */
export const HAS_BLOCKS = "SELECT CONCAT('no' /*M!100600 , 't MySQL' */)";

/** Several statements in one message, of MariaDB. Ends at the first that fails. */
export function block(statements: readonly string[]): string {
  return `BEGIN NOT ATOMIC ${statements.join('; ')}; END`;
}

/** Limits for how long a machine that has vanished may hold a lock. MySQL has no such setting. */
export function limitIdle(idleTimeoutMs: number): string {
  return `SET @merchant_payments_idle = @@SESSION.idle_transaction_timeout, SESSION idle_transaction_timeout = ${Math.ceil(idleTimeoutMs / 1000)}`;
}

/** Restores the session's own limit. */
export const RESTORE_IDLE = 'SET SESSION idle_transaction_timeout = @merchant_payments_idle';
