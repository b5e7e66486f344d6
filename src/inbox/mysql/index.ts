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
export type { MysqlInbox } from './mysql-inbox.js';
export { mysqlInbox } from './mysql-inbox.js';
export type { MysqlInboxOptions, MysqlInboxSchemaOptions } from './options.js';
export { mysqlInboxSchema } from './schema.js';
