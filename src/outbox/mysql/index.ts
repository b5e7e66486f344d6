/**
 * An outbox in MySQL or MariaDB. For use with an ORM, import `fromDrizzle` and the like from
 * `merchant-payments/inbox/mysql`.
 *
 * @module merchant-payments/outbox/mysql
 */
export type { MysqlOutbox } from './mysql-outbox.js';
export { mysqlOutbox } from './mysql-outbox.js';
export type { MysqlOutboxOptions, MysqlOutboxSchemaOptions } from './options.js';
export { mysqlOutboxSchema } from './schema.js';
