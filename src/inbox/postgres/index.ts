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
} from '../../postgres/pool.js';
export { type DrizzleLike, fromDrizzle } from '../../store/providers/drizzle.js';
export { fromKnex, type KnexLike } from '../../store/providers/knex.js';
export {
  fromKysely,
  type KyselyLike,
  type KyselyTransactionBuilder,
} from '../../store/providers/kysely.js';
export { fromPostgresJs, type PostgresJsLike } from '../../store/providers/postgres-js.js';
export { fromPrisma, type PrismaLike } from '../../store/providers/prisma.js';
export type { TransactionLimits, TransactionProvider } from '../../store/providers/provider.js';
export { fromTypeOrm, type TypeOrmLike } from '../../store/providers/typeorm.js';
export type { PostgresInboxOptions, PostgresInboxSchemaOptions } from '../../postgres/inbox-options.js';
export type { PostgresInbox } from '../../postgres/inbox-postgres-inbox.js';
export { postgresInbox } from '../../postgres/inbox-postgres-inbox.js';
export { postgresInboxSchema } from '../../postgres/inbox-schema.js';
