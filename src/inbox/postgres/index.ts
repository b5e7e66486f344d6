/**
 * An inbox in Postgres: exactly once, in one transaction with your own writes.
 *
 * @module merchant-payments/inbox/postgres
 */
export type { InboxErrorCode } from '../../errors.js';
export { InboxError, InvalidOptionError, MerchantPaymentsError } from '../../errors.js';
export type { CallbackInbox, InboxContext, InboxEvent, InboxOutcome } from '../inbox.js';
export type {
  PgClientLike,
  PgliteLike,
  PgliteTransactionLike,
  PgPoolLike,
  Queryable,
} from './pool.js';
export type { PostgresInbox, PostgresInboxOptions } from './postgres-inbox.js';
export { postgresInbox } from './postgres-inbox.js';
export type { PostgresInboxTables } from './schema.js';
export { postgresInboxSchema } from './schema.js';
