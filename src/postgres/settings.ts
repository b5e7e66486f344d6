import type { ClaimLimits } from '../store/sql/transactions.js';
import { failures } from './failures.js';
import { literal } from './quoting.js';

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

/** The session's role and search_path, which the work may change. */
export type Session = readonly [role: string, searchPath: string];

/**
 * The first statement of a transaction: a SELECT without FROM, so that columns can be added to it. Its text is the
 * {@link Session} as JSON.
 */
export function settings({ lockTimeoutMs, idleTimeoutMs }: ClaimLimits): string {
  return `SELECT pg_catalog.json_build_array(${[
    current('role'),
    current('search_path'),
    set(`${NAME}.lock_timeout`, current('lock_timeout')),
    set('lock_timeout', `'${lockTimeoutMs}'::text`),
    set('idle_in_transaction_session_timeout', `'${idleTimeoutMs}'::text`),
    DURABLY,
  ].join(', ')})::text`;
}

/** @throws {StoreError} `STORE_FAILED` when it is not what {@link settings} returns */
export function parseSession(json: unknown, by?: string): Session {
  try {
    const session: unknown = JSON.parse(String(json));
    const [role, searchPath] = Array.isArray(session) ? session : [];
    if (typeof role === 'string' && typeof searchPath === 'string') return [role, searchPath];
  } catch {
    // Reported below.
  }
  throw failures.changedAnswer(by);
}

/** A last row of what a claim reads. It gives the work the session's own limit for locks. */
export const LIMIT_ENDS = `
UNION ALL SELECT pg_catalog.json_build_array('limit'::text, ${set('lock_timeout', current(`${NAME}.lock_timeout`))})::text`;

/**
 * The statements that end the work, whose role and search_path may be others by now. The role comes first, because it
 * determines `$user` in the search_path. To set both costs less than to compare them.
 */
export function leaveSavepoint(undo: boolean, [role, searchPath]: Session): readonly string[] {
  if (undo) return [`ROLLBACK TO SAVEPOINT ${NAME}`];
  const restored = [set('role', text(role)), set('search_path', text(searchPath))];
  return [`RELEASE SAVEPOINT ${NAME}`, `SELECT ${restored.join(', ')}`];
}

function current(name: string): string {
  return `pg_catalog.current_setting('${name}'::text)`;
}

function set(name: string, value: string): string {
  return `pg_catalog.set_config('${name}'::text, ${value}, true)`;
}

function text(value: string): string {
  return `${literal(value)}::text`;
}
