/** How long a session waits in a transaction of ours, in milliseconds. */
export interface SessionLimits {
  /** For a table that another session changes. */
  readonly lockTimeoutMs: number;
  /** For the next statement. */
  readonly idleTimeoutMs: number;
}

const NAME = 'merchant_payments';
/** Marks the transaction: it is gone when that has ended. */
export const SAVEPOINT = `SAVEPOINT ${NAME}`;

/**
 * The settings of a transaction of ours, by expressions for whole seconds. The server's own limit for a
 * silent session is hours, and for a table that is being altered a day or a year.
 */
export function limitSession(lockSeconds: string, idleSeconds: string): string {
  return `SET @merchant_payments_wait_timeout = @@SESSION.wait_timeout,
  @merchant_payments_lock_wait_timeout = @@SESSION.lock_wait_timeout,
  SESSION wait_timeout = CAST(LEAST(@@SESSION.wait_timeout, ${idleSeconds}) AS SIGNED),
  SESSION lock_wait_timeout = CAST(LEAST(@@SESSION.lock_wait_timeout, ${lockSeconds}) AS SIGNED)`;
}

/** The statement that takes them back. */
export const RESTORE = `SET SESSION wait_timeout = CAST(COALESCE(@merchant_payments_wait_timeout, @@SESSION.wait_timeout) AS SIGNED),
  SESSION lock_wait_timeout = CAST(COALESCE(@merchant_payments_lock_wait_timeout, @@SESSION.lock_wait_timeout) AS SIGNED)`;

/**
 * The statements that begin a transaction, whatever the session's defaults are. READ COMMITTED, as at
 * REPEATABLE READ a look for what is not there locks the gap where others insert. The savepoint goes with the
 * transaction: it tells whether the one that is to be committed is the one that was begun.
 */
export const READ_COMMITTED = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED';
export const START = 'START TRANSACTION READ WRITE';
export const BEGIN: readonly string[] = [READ_COMMITTED, START, SAVEPOINT];

/** The statement that fails outside the transaction that was begun. */
export const ASSERT_BEGUN = `RELEASE SAVEPOINT ${NAME}`;

/** Whatever the session's `completion_type` is. */
export const COMMIT = 'COMMIT AND NO CHAIN NO RELEASE';
export const ROLLBACK = 'ROLLBACK AND NO CHAIN NO RELEASE';

/** The current time in epoch microseconds, whatever the session's time zone is. */
export const NOW_US = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

/** Milliseconds as the whole seconds that the server counts in. */
export function toSeconds(milliseconds: number): string {
  return String(Math.ceil(milliseconds / 1000));
}

/** What begins a transaction. */
export function beginStatements(limits: SessionLimits): string[] {
  return [limitsOf(limits), ...BEGIN];
}

/** What sets the limits in a transaction that an ORM has begun, and marks it. */
export function enterStatements(limits: SessionLimits): string[] {
  return [limitsOf(limits), SAVEPOINT];
}

function limitsOf({ lockTimeoutMs, idleTimeoutMs }: SessionLimits): string {
  return limitSession(toSeconds(lockTimeoutMs), toSeconds(idleTimeoutMs));
}
