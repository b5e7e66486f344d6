import { drizzle } from 'drizzle-orm/node-postgres';
import { drizzle as drizzleOnPostgresJs } from 'drizzle-orm/postgres-js';
import { Kysely, PostgresDialect } from 'kysely';
import pg from 'pg';
import postgres from 'postgres';
import { fromDrizzle } from '../../../../src/storage/providers/drizzle.js';
import { fromKysely } from '../../../../src/storage/providers/kysely.js';
import type { TransactionProvider } from '../../../../src/storage/providers/provider.js';

/** A provider whose connections are in a schema. */
export interface OpenProvider {
  readonly provider: TransactionProvider<unknown>;
  close(): Promise<unknown>;
}

const openPool = (url: string, schema: string): pg.Pool => {
  const pool = new pg.Pool({
    connectionString: url,
    application_name: schema,
    options: `-c search_path=${schema}`,
  });
  pool.on('error', () => {});
  // As the guide says: otherwise the loss of a connection ends the process.
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
};

export const providers = {
  'Drizzle on pg': (url, schema) => {
    const pool = openPool(url, schema);
    return { provider: fromDrizzle(drizzle(pool)), close: () => pool.end() };
  },
  'Drizzle on postgres.js': (url, schema) => {
    const sql = postgres(url, {
      connection: { application_name: schema, search_path: schema },
      onnotice: () => {},
    });
    return { provider: fromDrizzle(drizzleOnPostgresJs(sql)), close: () => sql.end() };
  },
  Kysely: (url, schema) => {
    const pool = openPool(url, schema);
    const db = new Kysely({ dialect: new PostgresDialect({ pool }) });
    return { provider: fromKysely(db), close: () => db.destroy() };
  },
} satisfies Record<string, (url: string, schema: string) => OpenProvider>;
