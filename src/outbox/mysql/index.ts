/**
 * An outbox in MySQL or MariaDB. What makes an ORM its pool, `fromDrizzle` and the like, is in
 * `merchant-payments/inbox/mysql`.
 *
 * @module merchant-payments/outbox/mysql
 */
export type { MysqlOutbox } from './mysql-outbox.js';
export { mysqlOutbox } from './mysql-outbox.js';
export type { MysqlOutboxOptions, MysqlOutboxSchemaOptions } from './options.js';
export { mysqlOutboxSchema } from './schema.js';
