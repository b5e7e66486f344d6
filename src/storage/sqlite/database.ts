import { InvalidOptionError } from '../../errors.js';
import { invalidOption } from '../../protocol/options.js';

/** What is used of a `DatabaseSync` of node:sqlite or a `Database` of better-sqlite3. */
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

/** What is used of a prepared statement. */
export interface SqliteStatement {
  /** Runs it and counts the rows that changed. */
  run(...parameters: SqliteValue[]): {
    /** How many rows changed. */
    changes: number | bigint;
  };
  /** The first row. */
  get(...parameters: SqliteValue[]): unknown;
}

/** A value that is bound to a statement. */
export type SqliteValue = string | number | null | Uint8Array;

/** @throws {InvalidOptionError} when `database` is of neither kind */
export function assertDatabase(database: unknown): void {
  const methods = database as Partial<SqliteDatabase> | null | undefined;
  if (typeof methods?.exec === 'function' && typeof methods.prepare === 'function') return;
  const kinds =
    'a DatabaseSync of node:sqlite or a Database of better-sqlite3, with exec and prepare';
  throw invalidOption('database', kinds, database);
}

/** Whether a transaction is open on the connection. What is written now would be part of it. */
export function isInTransaction(database: SqliteDatabase): boolean {
  return database.inTransaction === true || database.isTransaction === true;
}

/** @throws {InvalidOptionError} when a transaction is open on the connection */
export function assertNoTransaction(database: SqliteDatabase): void {
  if (!isInTransaction(database)) return;
  throw new InvalidOptionError(
    'database',
    'database must not be in a transaction when the inbox is used, or the claim would be undone with it: end the transaction before an await, or give the inbox its own connection',
  );
}

/** Runs `body` in a transaction that holds the write lock from its beginning, and is on disk at its end. */
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
 * Once for each connection. With less than FULL, which is what better-sqlite3 has in WAL, a power cut undoes
 * commits: a claim whose payment was sent, or a change that was acknowledged.
 */
function makeDurable(database: SqliteDatabase): void {
  if (durable.has(database)) return;
  const level = Number(readValue(database.prepare('PRAGMA synchronous').get()));
  // better-sqlite3 shows FULL until the first write has made it NORMAL, but for one that was set. OFF was set.
  if (level === NORMAL || level === FULL) database.exec('PRAGMA synchronous = FULL');
  durable.add(database);
}

function rollBack(database: SqliteDatabase): void {
  try {
    database.exec('ROLLBACK');
  } catch {
    // After some failures, a full disk for one, SQLite has rolled back already.
  }
}

const SQLITE_BUSY = 5;

/** Whether another connection holds a lock that is in the way. */
export function isLocked(error: unknown): boolean {
  const { code, errcode } = (error ?? {}) as { code?: unknown; errcode?: unknown };
  if (typeof code === 'string' && code.startsWith('SQLITE_BUSY')) return true;
  // Extended codes hold the kind in their low byte.
  return typeof errcode === 'number' && (errcode & 0xff) === SQLITE_BUSY;
}

// None has a code: an iterate() that is under way on a connection of better-sqlite3,
// and a transaction on one of node:sqlite before 22.16, which can't be asked for it.
const IN_USE =
  /^This database connection is busy executing a query|^cannot start a transaction within a transaction|^Safety level may not be changed inside a transaction/;

/** Whether something else in this process uses the connection in a way that excludes us. */
export function isInUse(error: unknown): boolean {
  return error instanceof Error && IN_USE.test(error.message);
}

const LOCK_PATIENCE_MS = 5_000;
const LOCK_PAUSE_MS = 20;

/** Tries again, and blocks the process, while another connection has the file locked: for 5 s at most. */
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

/** The only column of a row, which is an array when the database is set to give those. */
export function readValue(row: unknown): unknown {
  return Object.values(row ?? {})[0];
}
