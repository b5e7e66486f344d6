import { PaymentClient } from 'merchant-payments';
import { postgresStore } from 'merchant-payments/postgres';
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
/** The statuses after which a customer may try again: yours, since the interface names none. */
export const DECLINED = ['declined'];
export const store = postgresStore(pool, { client, declined: DECLINED });

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
