/**
 * A store in MySQL or MariaDB: exactly once, in one transaction with your own writes.
 *
 * @module merchant-payments/mysql
 */
export { fromDrizzle } from '../store/providers/drizzle.js';
export { fromKnex } from '../store/providers/knex.js';
export { fromKysely } from '../store/providers/kysely.js';
export { fromPrisma } from '../store/providers/prisma.js';
export type { TransactionProvider } from '../store/providers/provider.js';
export { fromTypeOrm } from '../store/providers/typeorm.js';
export type { ServerStoreOptions } from '../store/sql/server-options.js';
export { mysqlSchema, mysqlStore } from './mysql-store.js';
export type { MysqlQueryable } from './pool.js';
