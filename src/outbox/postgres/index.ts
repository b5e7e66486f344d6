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
export type { PostgresOutboxOptions, PostgresOutboxSchemaOptions } from './options.js';
export type { PostgresOutbox } from './postgres-outbox.js';
export { postgresOutbox } from './postgres-outbox.js';
export { postgresOutboxSchema } from './schema.js';
