/**
 * An outbox in Postgres.
 *
 * @module merchant-payments/outbox/postgres
 */
export type {
  PgClientLike,
  PgliteLike,
  PgliteTransactionLike,
  PgPoolLike,
  Queryable,
  TransactionOf,
} from '../../storage/postgres/pool.js';
export type { PostgresOutboxOptions, PostgresOutboxSchemaOptions } from './options.js';
export type { PostgresOutbox } from './postgres-outbox.js';
export { postgresOutbox } from './postgres-outbox.js';
export { postgresOutboxSchema } from './schema.js';
