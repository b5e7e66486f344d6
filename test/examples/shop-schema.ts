import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import pg from 'pg';

/** Tables of the shop, in a schema of Postgres that is dropped in the end. */
export interface ShopSchema extends AsyncDisposable {
  /** The address of the database, with the schema as its search path. */
  readonly url: string;
  query(sql: string, values?: unknown[]): Promise<Record<string, unknown>[]>;
}

export async function createShopSchema(): Promise<ShopSchema> {
  const name = `shop_${randomUUID().replaceAll('-', '')}`;
  const url = new URL(process.env['DATABASE_URL'] ?? '');
  url.searchParams.set('options', `-c search_path=${name}`);
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`CREATE SCHEMA ${name}`);
  await client.query(readFileSync('examples/shop/schema.sql', 'utf8'));
  return {
    url: url.href,
    query: async (sql, values) => (await client.query(sql, values)).rows,
    async [Symbol.asyncDispose]() {
      await client.query(`DROP SCHEMA ${name} CASCADE`);
      await client.end();
    },
  };
}

/** Ends the time in which the service may act on a request, after which a person may say that it has created nothing. */
export async function endLifetimes({ query }: ShopSchema): Promise<void> {
  await query(
    'UPDATE payment_store_payments SET lease_until_ms = 0, sent_at_ms = sent_at_ms - 900000',
  );
}
