import { type ServerTimeouts, silenceLimitMs } from '../store/sql/server-options.js';

const DURABLE =
  "pg_catalog.set_config('synchronous_commit', pg_catalog.replace(pg_catalog.current_setting('synchronous_commit'), 'off', 'on'), true)";

/** Makes the COMMIT durable, even if the role's default is not to be. */
export const DURABLY = `SELECT ${DURABLE}`;

/**
 * Begins a transaction, with a limit to how long it waits for a lock, and to how long a machine that has vanished may hold
 * one. Both modes are explicit: a default of SERIALIZABLE would fail where this waits, and a read-only one could not write.
 */
export function begin(timeouts: ServerTimeouts, lockTimeoutMs: number): string {
  const idle = `SET LOCAL idle_in_transaction_session_timeout = ${silenceLimitMs(timeouts)}`;
  return `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; ${lockLimit(lockTimeoutMs)}; ${idle}`;
}

/** At half the cost of set_config() for the server. */
export const lockLimit = (timeoutMs: number): string => `SET LOCAL lock_timeout = ${timeoutMs}`;

/** Not of a PGlite, whose machine cannot vanish, and which never comes back from a session that was ended. */
const ofServer = (limitMs: number): string =>
  `CASE WHEN pg_catalog.version() LIKE '%emcc%' THEN '0' ELSE '${limitMs}' END`;

/** All three in one statement. */
export function settingsInOne(timeouts: ServerTimeouts): string {
  return `SELECT pg_catalog.set_config('lock_timeout', '${timeouts.lockTimeoutMs}', true), pg_catalog.set_config('idle_in_transaction_session_timeout', ${ofServer(silenceLimitMs(timeouts))}, true), ${DURABLE}`;
}
