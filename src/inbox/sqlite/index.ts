/**
 * An inbox in SQLite: durable on one machine.
 *
 * @module merchant-payments/inbox/sqlite
 */
export type {
  SqliteDatabase,
  SqliteStatement,
  SqliteValue,
} from '../../sqlite/database.js';
export type { SqliteInbox, SqliteInboxOptions } from '../../sqlite/inbox-sqlite-inbox.js';
export { sqliteInbox } from '../../sqlite/inbox-sqlite-inbox.js';
