import { createRequire } from 'node:module';
import type { SqliteDatabase } from '../../src/sqlite/database.js';

export interface OpenDatabase extends SqliteDatabase {
  prepare(sql: string): {
    run(...parameters: unknown[]): unknown;
    get(...parameters: unknown[]): unknown;
    all(...parameters: unknown[]): unknown[];
  };
  close(): void;
}

/** A way to open a file, with no waiting for locks. */
export interface SqliteDriver {
  readonly name: string;
  open(file: string): OpenDatabase;
}

/** Every driver that this Node has; better-sqlite3 is installed under test. */
export const drivers: readonly SqliteDriver[] = [...nodeDrivers(), ...betterSqlite3Drivers()];

if (drivers.length === 0) {
  throw new Error(`No SQLite driver for Node ${process.version}: run npm run packages`);
}

function nodeDrivers(): SqliteDriver[] {
  const sqlite = process.getBuiltinModule?.('node:sqlite') as
    | { DatabaseSync: new (file: string, options?: object) => OpenDatabase }
    | undefined;
  if (sqlite === undefined) return [];
  const { DatabaseSync } = sqlite;
  return [
    { name: 'node:sqlite', open: (file) => new DatabaseSync(file) },
    {
      name: 'node:sqlite, with big integers, rows as arrays and WAL',
      open(file) {
        const database = new DatabaseSync(file, { readBigInts: true, returnArrays: true });
        database.exec('PRAGMA journal_mode = WAL');
        return database;
      },
    },
  ];
}

function betterSqlite3Drivers(): SqliteDriver[] {
  const Database = loadBetterSqlite3();
  if (Database === undefined) return [];
  return [
    { name: 'better-sqlite3', open: (file) => new Database(file, { timeout: 0 }) },
    {
      name: 'better-sqlite3, with big integers and WAL',
      open(file) {
        const database = new Database(file, { timeout: 0 });
        database.defaultSafeIntegers(true);
        database.pragma('journal_mode = WAL');
        return database;
      },
    },
  ];
}

// Its types say what it takes; that the store takes it is checked with them.
type BetterSqlite3 = typeof import('better-sqlite3');

function loadBetterSqlite3(): BetterSqlite3 | undefined {
  try {
    const require = createRequire(new URL('../services/package.json', import.meta.url));
    const Database = require('better-sqlite3') as BetterSqlite3;
    // The native part is loaded by the first database, and is of one version of Node.
    new Database(':memory:').close();
    return Database;
  } catch (error) {
    const { code } = error as { code?: string };
    if (code === 'MODULE_NOT_FOUND' || code === 'ERR_DLOPEN_FAILED') return undefined;
    throw error;
  }
}
