import type { ClaimLimits } from '../store/sql/transactions.js';

// Everything is qualified and cast: a role that may create functions in a schema of the search_path could otherwise
// make one that fits better than the built-in one, and would run as the application.

/** Makes the transaction commit to disk, even if the role's default is not to. */
export const DURABLY =
  "pg_catalog.set_config('synchronous_commit'::text, pg_catalog.replace(pg_catalog.current_setting('synchronous_commit'::text), 'off'::text, 'on'::text), true)";

/** Both modes are explicit: a default of SERIALIZABLE would fail where this waits, and a read-only one could not write. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';

const NAME = 'merchant_payments';
/** Set after the claim and before the work. It ends with the transaction, and so shows whether that is still open. */
export const SAVEPOINT = `SAVEPOINT ${NAME}`;

/** The names of the settings that the work may change for its transaction, and that are restored after it. */
const KEPT = ['lock_timeout', 'role', 'search_path'];

/** The first statement of a transaction: a SELECT of one text without FROM, so that columns can be added to it. */
export function settings({ lockTimeoutMs, idleTimeoutMs }: ClaimLimits): string {
  return `SELECT ${[
    ...KEPT.map((name) => set(`${NAME}.${name}`, `pg_catalog.current_setting('${name}'::text)`)),
    set('lock_timeout', `'${lockTimeoutMs}'::text`),
    set('idle_in_transaction_session_timeout', `'${idleTimeoutMs}'::text`),
    DURABLY,
  ].join(', ')}`;
}

/** A column of the SELECT after the lock: it gives the work the session's own limit for locks. */
export const AFTER_LOCK = `, ${restored('lock_timeout')}`;

/**
 * The statements that end the work, whose role and search_path may be others by now. The role comes first, because it
 * determines `$user` in the search_path.
 */
export function leaveSavepoint(undo: boolean): readonly string[] {
  if (undo) return [`ROLLBACK TO SAVEPOINT ${NAME}`];
  return [`RELEASE SAVEPOINT ${NAME}`, `SELECT ${['role', 'search_path'].map(ifMoved).join(', ')}`];
}

/** Nearly always unchanged, and to set it costs more than to compare. */
function ifMoved(name: string): string {
  const current = `pg_catalog.current_setting('${name}'::text)`;
  const before = `pg_catalog.current_setting('${NAME}.${name}'::text)`;
  return `CASE WHEN ${current} OPERATOR(pg_catalog.<>) ${before} THEN ${restored(name)} END`;
}

function restored(name: string): string {
  return set(name, `pg_catalog.current_setting('${NAME}.${name}'::text)`);
}

function set(name: string, value: string): string {
  return `pg_catalog.set_config('${name}'::text, ${value}, true)`;
}
