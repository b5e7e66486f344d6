import type { PoolConnection } from 'mysql2/promise';
import { beforeAll } from 'vitest';
import { mysqlOutbox } from '../../../src/mysql/outbox-mysql-outbox.js';
import { useDatabase as useInboxDatabase } from '../../inbox/mysql/server.js';
import { unusedClient } from '../unused-client.js';

/** A database of the server for one test file, with the tables of inbox and outbox and `orders`; dropped after it. */
export function useDatabase(database: string) {
  const server = useInboxDatabase(database);
  const { observer, query } = server;
  beforeAll(() => mysqlOutbox(observer, { client: unusedClient }).setup());

  /** Runs the body in a transaction at the server's own isolation, which is rolled back when it rejects. */
  const transaction = async (body: (tx: PoolConnection) => Promise<void>): Promise<void> => {
    const connection = await observer.getConnection();
    try {
      await connection.beginTransaction();
      await body(connection);
      await connection.commit();
    } catch (error) {
      await connection.rollback();
      throw error;
    } finally {
      connection.release();
    }
  };
  /** Makes every sender appear dead. */
  const loseLease = async (): Promise<void> => {
    await query(
      `UPDATE payment_outbox_payments SET lease_until_ms = 0 WHERE state IN ('sending', 'unresolved')`,
    );
  };
  return { ...server, transaction, loseLease };
}
