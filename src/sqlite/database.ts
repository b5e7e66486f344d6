import { InvalidOptionError } from '../errors.js';
import { invalidOption } from '../protocol/options.js';

/** The methods used of a `DatabaseSync` of node:sqlite or a `Database` of better-sqlite3. */
export interface SqliteDatabase {
  /** Runs statements without results. */
  exec(sql: string): unknown;
  /** Prepares one statement. */
  prepare(sql: string): SqliteStatement;
  /** better-sqlite3: whether the connection is in a transaction. */
  readonly inTransaction?: boolean | undefined;
  /** node:sqlite: whether the connection is in a transaction. */
  readonly isTransaction?: boolean | undefined;
}

/** The methods used of a prepared statement. */
export interface SqliteStatement {
  /** Runs it. */
  run(...parameters: SqliteValue[]): {
    /** How many rows changed. */
    changes: number | bigint;
  };
  /** Runs it and returns the first row. */
  get(...parameters: SqliteValue[]): unknown;
  /** Runs it and returns all rows. */
  all(...parameters: SqliteValue[]): unknown[];
}

/** A value bound to a statement. */
export type SqliteValue = string | number | null | Uint8Array;

/** @throws {InvalidOptionError} when `database` is neither */
export function assertDatabase(database: unknown): void {
  const methods = database as Partial<SqliteDatabase> | null | undefined;
  if (typeof methods?.exec === 'function' && typeof methods.prepare === 'function') return;
  const kinds =
    'a DatabaseSync of node:sqlite or a Database of better-sqlite3, with exec and prepare';
  throw invalidOption('database', kinds, database);
}

/** Whether a transaction is open on the connection, of which any write would become part. */
export function isInTransaction(database: SqliteDatabase): boolean {
  return database.inTransaction === true || database.isTransaction === true;
}

/** Whether no transaction is open, so that a write would commit on its own. False if the driver does not tell. */
export function isOutsideTransaction(database: SqliteDatabase): boolean {
  return (
    !isInTransaction(database) &&
    (database.inTransaction === false || database.isTransaction === false)
  );
}

/** @throws {InvalidOptionError} when a transaction is open on the connection */
export function assertNoTransaction(database: SqliteDatabase): void {
  if (!isInTransaction(database)) return;
  throw new InvalidOptionError(
    'database',
    'database must not be in a transaction when the inbox is used, because a rollback would also undo the claim: end the transaction before an await, or give the inbox its own connection',
  );
}

/** Runs `body` in a transaction that takes the write lock at its start, and is durable when this returns. */
export function runInTransaction<T>(database: SqliteDatabase, body: () => T): T {
  makeDurable(database);
  database.exec('BEGIN IMMEDIATE');
  try {
    const result = body();
    database.exec('COMMIT');
    return result;
  } catch (error) {
    rollBack(database);
    throw error;
  }
}

const durable = new WeakSet<SqliteDatabase>();

const NORMAL = 1;
const FULL = 2;

/**
 * Runs once per connection. Below FULL, as with better-sqlite3 in WAL mode, a power cut can undo
 * commits: a claim whose payment was sent, or a change that was acknowledged.
 */
function makeDurable(database: SqliteDatabase): void {
  if (durable.has(database)) return;
  const level = Number(readValue(database.prepare('PRAGMA synchronous').get()));
  // By default, better-sqlite3 reports FULL until the first write makes it NORMAL, so FULL is set here too. OFF is
  // never a default: someone has chosen it.
  if (level === NORMAL || level === FULL) database.exec('PRAGMA synchronous = FULL');
  durable.add(database);
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // After some failures, such as a full disk, SQLite has already rolled back.
  }
}

const SQLITE_BUSY = 5;

/** Whether the statement failed because another connection holds a lock. */
export function isLocked(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof code === 'string' && code.startsWith('SQLITE_BUSY')) return true;
  // Extended codes have the primary code in their low byte.
  return typeof errcode === 'number' && (errcode & 0xff) === SQLITE_BUSY;
}

// These have no code: an unfinished iterate() on a connection of better-sqlite3,
// and an open transaction with node:sqlite before Node 22.16, which does not report it otherwise.
const IN_USE =
  /^This database connection is busy executing a query|^cannot start a transaction within a transaction|^Safety level may not be changed inside a transaction/;

/** Whether the statement failed because other code in this process is using the connection. */
export function isInUse(error: unknown): boolean {
  return error instanceof Error && IN_USE.test(error.message);
}

const LOCK_PATIENCE_MS = 5_000;
const LOCK_PAUSE_MS = 20;

/**
 * Runs a step once the connection is free: no other connection has the file locked, and no transaction is open on
 * this one, whose rollback would undo the step. Retries without blocking the process, while `mayRetry` returns true.
 *
 * @param createTimeout creates the error to throw when it no longer does
 */
export async function whenFree<T>(
  database: SqliteDatabase,
  step: () => T,
  mayRetry: () => boolean,
  createTimeout: (blocker: string, cause: unknown) => Error,
): Promise<T> {
  for (;;) {
    let cause: unknown;
    if (!isInTransaction(database)) {
      try {
        return step();
      } catch (error) {
        if (!isLocked(error) && !isInUse(error)) throw error;
        cause = error;
      }
    }
    if (!mayRetry()) throw createTimeout(blockerOf(cause), cause);
    await pause();
  }
}

function blockerOf(cause: unknown): string {
  return isLocked(cause)
    ? 'another connection had the file locked'
    : 'a transaction or an iterate() was open on the connection';
}

/** Lets other code run before the next attempt. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, LOCK_PAUSE_MS));
}

/** Retries while another connection has the file locked, for at most 5 s. Blocks the process. */
export function waitWhileLocked(step: () => void): void {
  const lastMs = performance.now() + LOCK_PATIENCE_MS;
  const never = new Int32Array(new SharedArrayBuffer(4));
  for (;;) {
    try {
      step();
      return;
    } catch (error) {
      if (!isLocked(error) || performance.now() >= lastMs) throw error;
    }
    Atomics.wait(never, 0, 0, LOCK_PAUSE_MS);
  }
}

/** The only column of a row, which may be an object or an array. */
export function readValue(row: unknown): unknown {
  return Object.values(row ?? {})[0];
}
