import pg from 'pg';
import { afterAll, afterEach, beforeAll } from 'vitest';

/** Runs the body in a transaction, which is rolled back when it rejects. */
export async function inTransaction(
  pool: pg.Pool,
  body: (tx: pg.PoolClient) => Promise<unknown>,
): Promise<void> {
  const client = await pool.connect();
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
}

/**
 * A schema of the server for one test file, dropped after it. `settings` are those of every connection, as the server's
 * command line takes them.
 */
export function useEmptySchema(schema: string, settings = '') {
  const connectionString = process.env['DATABASE_URL'] ?? '';
  const pools: pg.Pool[] = [];
  const clients: pg.PoolClient[] = [];
  let hasFailed = false;

  /** A pool whose connections are in the schema. No listener for errors: none may reach it. */
  const openPool = (config: pg.PoolConfig = {}): pg.Pool => {
    const pool = new pg.Pool({
      connectionString,
      application_name: schema,
      ...config,
      options: `-c search_path=${schema} ${settings} ${config.options ?? ''}`,
    });
    pool.on('connect', (client) => clients.push(client));
    pools.push(pool);
    return pool;
  };
  const observer = openPool();

  /** What a failed test left open has locks, for which the rest would wait. */
  const endSessions = async (): Promise<void> => {
    for (const pool of pools) pool.on('error', () => undefined);
    for (const client of clients) client.on('error', () => undefined);
    const admin = new pg.Client({ connectionString });
    await admin.connect();
    for (const client of clients) {
      const { processID } = client as pg.PoolClient & { processID: number };
      await admin.query('SELECT pg_terminate_backend($1, 5000)', [processID]);
    }
    await admin.query(`DROP SCHEMA ${schema} CASCADE`);
    await admin.end();
  };

  beforeAll(async () => {
    await observer.query(`DROP SCHEMA IF EXISTS ${schema} CASCADE; CREATE SCHEMA ${schema}`);
  });
  afterEach(({ task }) => {
    hasFailed ||= task.result?.state === 'fail';
  });
  afterAll(async () => {
    if (hasFailed) return endSessions();
    await observer.query(`DROP SCHEMA ${schema} CASCADE`);
    await Promise.all(pools.map((pool) => pool.end()));
  });

  const transaction = (body: (tx: pg.PoolClient) => Promise<void>) => inTransaction(observer, body);
  return { openPool, observer, transaction };
}
