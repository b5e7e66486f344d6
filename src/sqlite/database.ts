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

/** The methods used of a prepared statement, without parameters. */
export interface SqliteStatement {
  // Before TypeScript 6, `prepare` of better-sqlite3 seems to return statements that require a parameter.
  /** Runs it. */
  run(...parameters: never[]): unknown;
  /** Runs it and returns all rows. */
  all(...parameters: never[]): unknown;
}

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
  const [level] = readColumn(database.prepare('PRAGMA synchronous').all());
  // By default, better-sqlite3 reports FULL until the first write makes it NORMAL, so FULL is set here too. OFF is
  // never a default: someone has chosen it.
  if (Number(level) === NORMAL || Number(level) === FULL) {
    database.exec('PRAGMA synchronous = FULL');
  }
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

/** The only column of each row, which may be an object or an array. */
export function readColumn(rows: unknown): readonly unknown[] {
  return Array.isArray(rows) ? rows.map((row) => Object.values(row ?? {})[0]) : [undefined];
}
