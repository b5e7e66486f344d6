import { postgresInbox } from 'merchant-payments/inbox/postgres';
import pg from 'pg';

export const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  connectionTimeoutMillis: 5_000,
  query_timeout: 30_000,
});
pool.on('error', console.error); // an idle connection that breaks would end the process
export const inbox = postgresInbox(pool);
