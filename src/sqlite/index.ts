/**
 * A store in a SQLite file, for the processes of one machine.
 *
 * @module merchant-payments/sqlite
 */
export type { SqliteDatabase } from './database.js';
export type { SqliteStoreOptions } from './sqlite-store.js';
export { sqliteStore } from './sqlite-store.js';
