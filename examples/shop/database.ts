import { PaymentClient } from 'merchant-payments';
import { postgresInbox } from 'merchant-payments/inbox/postgres';
import { postgresOutbox } from 'merchant-payments/outbox/postgres';
import pg from 'pg';

export const pool = new pg.Pool({
  connectionString: process.env.DATABASE_URL,
  connectionTimeoutMillis: 5_000,
  query_timeout: 30_000,
});
// Without listeners, a broken connection would end the process, whether idle or in your transaction.
pool.on('error', ({ message }) => console.error(message));
pool.on('connect', (connection) => connection.on('error', console.error));

export const client = PaymentClient.fromEnv();
export const outbox = postgresOutbox(pool, { client });
export const inbox = postgresInbox(pool, { keepBodies: true }); // so that staff can replay them

/** Runs `work` in a transaction: all of it is stored, or nothing. */
export async function transaction(work: (tx: pg.PoolClient) => Promise<void>): Promise<void> {
  const tx = await pool.connect();
  let failure: Error | undefined;
  try {
    await tx.query('BEGIN');
    await work(tx);
    await tx.query('COMMIT');
  } catch (error) {
    await tx.query('ROLLBACK').catch((lost: Error) => {
      failure = lost; // the pool closes the connection
    });
    throw error;
  } finally {
    tx.release(failure);
  }
}
