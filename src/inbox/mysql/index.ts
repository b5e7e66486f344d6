/**
 * An inbox in MySQL or MariaDB: exactly once, in one transaction with your own writes.
 *
 * @module merchant-payments/inbox/mysql
 */

export type {
  MysqlConnectionLike,
  MysqlPoolLike,
  MysqlQueryable,
  MysqlTransactionOf,
} from '../../storage/mysql/pool.js';
export { type DrizzleLike, fromDrizzle } from '../../storage/providers/drizzle.js';
export { fromKnex, type KnexLike } from '../../storage/providers/knex.js';
export {
  fromKysely,
  type KyselyLike,
  type KyselyTransactionBuilder,
} from '../../storage/providers/kysely.js';
export { fromPrisma, type PrismaLike } from '../../storage/providers/prisma.js';
export type { TransactionLimits, TransactionProvider } from '../../storage/providers/provider.js';
export { fromTypeOrm, type TypeOrmLike } from '../../storage/providers/typeorm.js';
export type { MysqlInbox } from './mysql-inbox.js';
export { mysqlInbox } from './mysql-inbox.js';
export type { MysqlInboxOptions, MysqlInboxSchemaOptions } from './options.js';
export { mysqlInboxSchema } from './schema.js';
