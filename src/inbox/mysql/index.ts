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
} from '../../mysql/pool.js';
export { type DrizzleLike, fromDrizzle } from '../../store/providers/drizzle.js';
export { fromKnex, type KnexLike } from '../../store/providers/knex.js';
export {
  fromKysely,
  type KyselyLike,
  type KyselyTransactionBuilder,
} from '../../store/providers/kysely.js';
export { fromPrisma, type PrismaLike } from '../../store/providers/prisma.js';
export type { TransactionLimits, TransactionProvider } from '../../store/providers/provider.js';
export { fromTypeOrm, type TypeOrmLike } from '../../store/providers/typeorm.js';
export type { MysqlInbox } from '../../mysql/inbox-mysql-inbox.js';
export { mysqlInbox } from '../../mysql/inbox-mysql-inbox.js';
export type { MysqlInboxOptions, MysqlInboxSchemaOptions } from '../../mysql/inbox-options.js';
export { mysqlInboxSchema } from '../../mysql/inbox-schema.js';
