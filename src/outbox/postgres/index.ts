/**
 * An outbox in Postgres. What makes an ORM its pool, `fromDrizzle` and the like, is in
 * `merchant-payments/inbox/postgres`.
 *
 * @module merchant-payments/outbox/postgres
 */
export type { PostgresOutboxOptions, PostgresOutboxSchemaOptions } from './options.js';
export type { PostgresOutbox } from './postgres-outbox.js';
export { postgresOutbox } from './postgres-outbox.js';
export { postgresOutboxSchema } from './schema.js';
