import { userInfo } from 'node:os';

/** Where the Postgres is that is measured. */
export const databaseUrl =
  process.env.DATABASE_URL ?? `postgres://${userInfo().username}@127.0.0.1:5432/test`;

/** Whether it answers. */
export async function hasPostgres() {
  try {
    const { default: pg } = await import('pg');
    const client = new pg.Client({ connectionString: databaseUrl, connectionTimeoutMillis: 2000 });
    await client.connect();
    await client.end();
    return true;
  } catch {
    return false;
  }
}
