import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { beforeAll } from 'vitest';
import { postgresInbox } from '../../../src/postgres/inbox-postgres-inbox.js';
import { postgresOutbox } from '../../../src/postgres/outbox-postgres-outbox.js';
import { useEmptySchema } from '../../services/postgres-schema.js';
import { unusedClient } from '../unused-client.js';

/** A schema of the server for one test file, with the tables of inbox and outbox and `orders`; dropped after it. */
export function useSchema() {
  const schema = `outbox_${randomUUID().replaceAll('-', '')}`;
  const { openPool, observer } = useEmptySchema(schema);

  beforeAll(async () => {
    await observer.query('CREATE TABLE orders (reference text PRIMARY KEY, status text NOT NULL)');
    await postgresInbox(observer).setup();
    await postgresOutbox(observer, { client: unusedClient }).setup();
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
