/**
 * An outbox in MySQL or MariaDB. For use with an ORM, import `fromDrizzle` and the like from
 * `merchant-payments/inbox/mysql`.
 *
 * @module merchant-payments/outbox/mysql
 */
export type { MysqlOutbox } from '../../mysql/outbox-mysql-outbox.js';
export { mysqlOutbox } from '../../mysql/outbox-mysql-outbox.js';
export type { MysqlOutboxOptions, MysqlOutboxSchemaOptions } from '../../mysql/outbox-options.js';
export { mysqlOutboxSchema } from '../../mysql/outbox-schema.js';
