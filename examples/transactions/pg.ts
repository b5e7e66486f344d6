import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { postgresStore } from 'merchant-payments/postgres';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
// Without listeners, a broken connection would end the process, whether idle or in your transaction.
pool.on('error', ({ message }) => console.error(message));
pool.on('connect', (connection) => connection.on('error', console.error));

export const store = postgresStore(pool, { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  const tx = await pool.connect();
  let failure: Error | undefined;
  try {
    await tx.query('BEGIN');
    await store.record(payment, { tx });
    await tx.query('INSERT INTO orders (reference) VALUES ($1) ON CONFLICT DO NOTHING', [
      reference,
    ]);
    await tx.query('COMMIT');
  } catch (error) {
    await tx.query('ROLLBACK').catch((lost: Error) => {
      failure = lost; // the pool closes the connection
    });
    throw error;
  } finally {
    tx.release(failure);
  }
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      const { rowCount } = await tx.query('UPDATE orders SET status = $2 WHERE reference = $1', [
        reference,
        status,
      ]);
      if (rowCount === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      await tx.query('INSERT INTO shipments (reference) VALUES ($1) ON CONFLICT DO NOTHING', [
        reference,
      ]);
    }
  },
});
