/**
 * An inbox in SQLite: durable on one machine.
 *
 * @module merchant-payments/inbox/sqlite
 */
export type {
  SqliteDatabase,
  SqliteStatement,
  SqliteValue,
} from '../../storage/sqlite/database.js';
export type { SqliteInbox, SqliteInboxOptions } from './sqlite-inbox.js';
export { sqliteInbox } from './sqlite-inbox.js';
