/**
 * An outbox in Postgres. For use with an ORM, import `fromDrizzle` and the like from
 * `merchant-payments/inbox/postgres`.
 *
 * @module merchant-payments/outbox/postgres
 */
export type { PostgresOutboxOptions, PostgresOutboxSchemaOptions } from '../../postgres/outbox-options.js';
export type { PostgresOutbox } from '../../postgres/outbox-postgres-outbox.js';
export { postgresOutbox } from '../../postgres/outbox-postgres-outbox.js';
export { postgresOutboxSchema } from '../../postgres/outbox-schema.js';
