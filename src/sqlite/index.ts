/**
 * A store in a SQLite file, for the processes of one machine.
 *
 * @module merchant-payments/sqlite
 */
export type { SqliteDatabase, SqliteStatement } from './database.js';
export type { SqliteStore, SqliteStoreOptions, SyncRecordContext } from './sqlite-store.js';
export { sqliteStore } from './sqlite-store.js';
