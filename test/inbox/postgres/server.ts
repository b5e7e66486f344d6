import type pg from 'pg';
import { beforeAll } from 'vitest';
import { postgresInbox } from '../../../src/postgres/inbox-postgres-inbox.js';
import { useEmptySchema } from '../../services/postgres-schema.js';

/** A schema of the server for one test file, with the inbox's tables and `orders`; dropped after it. */
export function useSchema(schema: string) {
  const { openPool, observer } = useEmptySchema(schema, '-c lock_timeout=1234ms');

  beforeAll(async () => {
    await observer.query(
      'CREATE TABLE orders (reference text, status text, UNIQUE (reference, status) DEFERRABLE INITIALLY DEFERRED)',
    );
    await postgresInbox(observer).setup();
  });

  /** Settles when so many connections of the file wait for a lock. */
  const waitForBlocked = async (count: number): Promise<void> => {
    for (let blocked = -1; blocked !== count; ) {
      const { rows } = await observer.query(
        `SELECT count(*)::int AS blocked FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
        [schema],
      );
      blocked = rows[0].blocked;
    }
  };

  return { openPool, observer, waitForBlocked };
}

/** Ends the connection as an administrator does. */
export async function terminate(observer: pg.Pool, client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  await observer.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
}
