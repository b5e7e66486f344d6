/**
 * An outbox in Postgres. For use with an ORM, import `fromDrizzle` and the like from
 * `merchant-payments/inbox/postgres`.
 *
 * @module merchant-payments/outbox/postgres
 */
export type { PostgresOutboxOptions, PostgresOutboxSchemaOptions } from './options.js';
export type { PostgresOutbox } from './postgres-outbox.js';
export { postgresOutbox } from './postgres-outbox.js';
export { postgresOutboxSchema } from './schema.js';
