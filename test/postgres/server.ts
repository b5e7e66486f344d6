import type pg from 'pg';
import { beforeAll } from 'vitest';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { databaseForms } from '../../src/store/sql/sql.js';
import { useEmptySchema } from '../services/postgres-schema.js';

/** A schema of the server for one test file, with the store's tables and `orders`; dropped after it. */
export function useSchema(schema: string) {
  const { openPool, observer, transaction } = useEmptySchema(schema, '-c lock_timeout=1234ms');

  beforeAll(async () => {
    await observer.query(
      'CREATE TABLE orders (reference text, status text, UNIQUE (reference, status) DEFERRABLE INITIALLY DEFERRED)',
    );
    await postgresStore(observer).setup();
  });

  /** How many connections of the file wait for a lock. */
  const countBlocked = async (): Promise<number> => {
    const { rows } = await observer.query(
      `SELECT FROM pg_stat_activity WHERE application_name = $1 AND wait_event_type = 'Lock'`,
      [schema],
    );
    return rows.length;
  };

  /** Settles when so many connections of the file wait for a lock. */
  const waitForBlocked = async (count: number): Promise<void> => {
    while ((await countBlocked()) !== count);
  };

  /** The statuses of an order that the work has stored. */
  const statusesOf = async (reference: string): Promise<unknown[]> => {
    const { rows } = await observer.query(
      'SELECT status FROM orders WHERE reference = $1 ORDER BY 1',
      [reference],
    );
    return rows.map(({ status }) => status);
  };

  /** How many changes of an order are recorded as processed. */
  const countRecorded = async (reference: string): Promise<number> => {
    const { rows } = await observer.query(
      'SELECT FROM payment_store_changes WHERE merchant_payment_reference = $1',
      [databaseForms.toName(reference)],
    );
    return rows.length;
  };

  return {
    schema,
    openPool,
    observer,
    countBlocked,
    waitForBlocked,
    statusesOf,
    countRecorded,
    transaction,
  };
}

/** Ends the connection as an administrator does. */
export async function terminate(observer: pg.Pool, client: pg.PoolClient): Promise<void> {
  const { rows } = await client.query('SELECT pg_backend_pid() AS pid');
  await observer.query('SELECT pg_terminate_backend($1)', [rows[0].pid]);
}
