/**
 * An inbox in Postgres: exactly once, in one transaction with your own writes.
 *
 * @module merchant-payments/inbox/postgres
 */
export type { InboxErrorCode } from '../../errors.js';
export { InboxError, InvalidOptionError, MerchantPaymentsError } from '../../errors.js';
export type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox.js';
export type { PostgresInboxOptions } from './options.js';
export type {
  PgClientLike,
  PgliteLike,
  PgliteTransactionLike,
  PgPoolLike,
  Queryable,
  TransactionOf,
} from './pool.js';
export type { PostgresInbox } from './postgres-inbox.js';
export { postgresInbox } from './postgres-inbox.js';
export { postgresInboxSchema } from './schema.js';
export type { PostgresInboxTables } from './tables.js';
