/**
 * A store in Postgres: exactly once, in one transaction with your own writes.
 *
 * @module merchant-payments/postgres
 */
export { fromDrizzle } from '../store/providers/drizzle.js';
export { fromKnex } from '../store/providers/knex.js';
export { fromKysely } from '../store/providers/kysely.js';
export { fromPostgresJs } from '../store/providers/postgres-js.js';
export { fromPrisma } from '../store/providers/prisma.js';
export type { TransactionProvider } from '../store/providers/provider.js';
export { fromTypeOrm } from '../store/providers/typeorm.js';
export type { ServerStoreOptions } from '../store/sql/server-options.js';
export type { Queryable } from './pool.js';
export { postgresSchema, postgresStore } from './postgres-store.js';
