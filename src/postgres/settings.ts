import type { ClaimLimits } from '../store/sql/transactions.js';

/** Both modes are explicit: a default of SERIALIZABLE would fail where this waits, and a read-only one could not write. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';

/**
 * What a transaction sets for itself: how long it waits for a lock, for how long a machine that has vanished may hold one,
 * and that its COMMIT is durable, even if the role's default is not to be.
 */
export function settings({ lockTimeoutMs, idleTimeoutMs }: ClaimLimits): string {
  return `SELECT ${set('lock_timeout', `'${lockTimeoutMs}'`)}, ${set('idle_in_transaction_session_timeout', `'${idleTimeoutMs}'`)}, ${DURABLY}`;
}

function set(name: string, value: string): string {
  return `pg_catalog.set_config('${name}', ${value}, true)`;
}

const DURABLY = set(
  'synchronous_commit',
  "pg_catalog.replace(pg_catalog.current_setting('synchronous_commit'), 'off', 'on')",
);
