import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { afterAll, beforeAll } from 'vitest';
import { postgresInbox } from '../../../src/inbox/postgres/postgres-inbox.js';
import { postgresOutbox } from '../../../src/outbox/postgres/postgres-outbox.js';
import { unusedClient } from '../unused-client.js';

/** A schema of the server for one test file, with the tables of inbox and outbox and `orders`; dropped after it. */
export function useSchema() {
  const connectionString = process.env['DATABASE_URL'];
  const schema = `outbox_${randomUUID().replaceAll('-', '')}`;
  const pools: pg.Pool[] = [];
  const openPool = (config: pg.PoolConfig = {}): pg.Pool => {
    const options = `-c search_path=${schema} ${config.options ?? ''}`;
    const pool = new pg.Pool({ connectionString, application_name: schema, ...config, options });
    pools.push(pool);
    return pool;
  };
  const observer = openPool();

  beforeAll(async () => {
    await observer.query(`CREATE SCHEMA ${schema};
      CREATE TABLE orders (reference text PRIMARY KEY, status text NOT NULL)`);
    await postgresInbox(observer).setup();
    await postgresOutbox(observer, { client: unusedClient }).setup();
  });
  afterAll(async () => {
    await observer.query(`DROP SCHEMA ${schema} CASCADE`);
    await Promise.all(pools.map((pool) => pool.end()));
  });

  /** Runs the body in a transaction, which is rolled back when it rejects. */
  const transaction = async (body: (tx: pg.PoolClient) => Promise<void>): Promise<void> => {
    const client = await observer.connect();
    try {
      await client.query('BEGIN');
      await body(client);
      await client.query('COMMIT');
    } catch (error) {
      await client.query('ROLLBACK');
      throw error;
    } finally {
      client.release();
    }
  };
  return { schema, observer, openPool, transaction };
}
