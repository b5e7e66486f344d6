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
export { fromKnex, type KnexLike } from '../../storage/providers/knex.js';
export {
  fromKysely,
  type KyselyLike,
  type KyselyTransactionBuilder,
} from '../../storage/providers/kysely.js';
export { fromPostgresJs, type PostgresJsLike } from '../../storage/providers/postgres-js.js';
export { fromPrisma, type PrismaLike } from '../../storage/providers/prisma.js';
export type { TransactionLimits, TransactionProvider } from '../../storage/providers/provider.js';
export { fromTypeOrm, type TypeOrmLike } from '../../storage/providers/typeorm.js';
export type { PostgresInboxOptions, PostgresInboxSchemaOptions } from './options.js';
export type { PostgresInbox } from './postgres-inbox.js';
export { postgresInbox } from './postgres-inbox.js';
export { postgresInboxSchema } from './schema.js';
