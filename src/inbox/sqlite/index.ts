/**
 * An inbox in SQLite: durable on one machine.
 *
 * @module merchant-payments/inbox/sqlite
 */
export type { InboxErrorCode } from '../../errors.js';
export { InboxError, InvalidOptionError, MerchantPaymentsError } from '../../errors.js';
export type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox.js';
export type { SqliteDatabase, SqliteStatement, SqliteValue } from './database.js';
export type { SqliteInboxOptions } from './options.js';
export type { SqliteInbox } from './sqlite-inbox.js';
export { sqliteInbox } from './sqlite-inbox.js';
