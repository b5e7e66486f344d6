/**
 * An inbox in Postgres: exactly once, in one transaction with your own writes.
 *
 * @module merchant-payments/inbox/postgres
 */

export type {
  PgClientLike,
  PgliteLike,
  PgliteTransactionLike,
  PgPoolLike,
  Queryable,
  TransactionOf,
} from '../../storage/postgres/pool.js';
export { type DrizzleLike, fromDrizzle } from '../../storage/providers/drizzle.js';
export {
  fromKysely,
  type KyselyLike,
  type KyselyTransactionBuilder,
} from '../../storage/providers/kysely.js';
export type { TransactionLimits, TransactionProvider } from '../../storage/providers/provider.js';
export type { PostgresInboxOptions, PostgresInboxSchemaOptions } from './options.js';
export type { PostgresInbox } from './postgres-inbox.js';
export { postgresInbox } from './postgres-inbox.js';
export { postgresInboxSchema } from './schema.js';
