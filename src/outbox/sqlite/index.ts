/**
 * An outbox in SQLite: durable on one machine.
 *
 * @module merchant-payments/outbox/sqlite
 */
export type { SqliteOutbox, SqliteOutboxOptions } from '../../sqlite/outbox-sqlite-outbox.js';
export { sqliteOutbox } from '../../sqlite/outbox-sqlite-outbox.js';
