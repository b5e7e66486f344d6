import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { mysqlStore } from 'merchant-payments/mysql';
import { callbackHandler } from 'merchant-payments/node';
import mysql, { type ResultSetHeader } from 'mysql2/promise';

export const pool = mysql.createPool({ uri: process.env.MYSQL_URL ?? '', connectTimeout: 5_000 });
export const store = mysqlStore(pool, { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  const tx = await pool.getConnection();
  try {
    await tx.beginTransaction();
    await store.record(payment, { tx });
    await tx.query(
      'INSERT INTO orders (reference) VALUES (?) ON DUPLICATE KEY UPDATE reference = reference',
      [reference],
    );
    await tx.commit();
  } catch (error) {
    await tx.rollback();
    throw error;
  } finally {
    tx.release();
  }
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      // By default mysql2 counts the rows that match, unchanged ones included.
      const [{ affectedRows }] = await tx.query<ResultSetHeader>(
        'UPDATE orders SET status = ? WHERE reference = ?',
        [status, reference],
      );
      if (affectedRows === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      await tx.query(
        'INSERT INTO shipments (reference) VALUES (?) ON DUPLICATE KEY UPDATE reference = reference',
        [reference],
      );
    }
  },
});
