import { type ServerTimeouts, silenceLimitMs } from '../store/sql/server-options.js';

/** Both modes are explicit: a default of SERIALIZABLE would fail where this waits, and a read-only one could not write. */
export const BEGIN = 'BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE';

const DURABLE =
  "pg_catalog.set_config('synchronous_commit', pg_catalog.replace(pg_catalog.current_setting('synchronous_commit'), 'off', 'on'), true)";

/** Makes the COMMIT durable, even if the role's default is not to be. */
export const DURABLY = `SELECT ${DURABLE}`;

/**
 * What a transaction sets for itself: how long it waits for a lock, and for how long a machine that has vanished may hold
 * one. {@link DURABLY} comes before its COMMIT.
 */
export function settings(timeouts: ServerTimeouts): readonly string[] {
  const idle = `SET LOCAL idle_in_transaction_session_timeout = ${silenceLimitMs(timeouts)}`;
  return [lockLimit(timeouts), idle];
}

/** At half the cost of set_config() for the server. */
export const lockLimit = ({ lockTimeoutMs }: Pick<ServerTimeouts, 'lockTimeoutMs'>): string =>
  `SET LOCAL lock_timeout = ${lockTimeoutMs}`;

/** Not of a PGlite, whose machine cannot vanish, and which never comes back from a session that was ended. */
const ofServer = (limitMs: number): string =>
  `CASE WHEN pg_catalog.version() LIKE '%emcc%' THEN '0' ELSE '${limitMs}' END`;

/** All three in one statement. */
export function settingsInOne(timeouts: ServerTimeouts): string {
  return `SELECT pg_catalog.set_config('lock_timeout', '${timeouts.lockTimeoutMs}', true), pg_catalog.set_config('idle_in_transaction_session_timeout', ${ofServer(silenceLimitMs(timeouts))}, true), ${DURABLE}`;
}
