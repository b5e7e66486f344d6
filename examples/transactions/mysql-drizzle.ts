import { eq } from 'drizzle-orm';
import { mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle } from 'drizzle-orm/mysql2';
import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { fromDrizzle, mysqlStore } from 'merchant-payments/mysql';
import { callbackHandler } from 'merchant-payments/node';

const orders = mysqlTable('orders', {
  reference: varchar({ length: 200 }).primaryKey(),
  status: varchar({ length: 50 }),
});
const shipments = mysqlTable('shipments', { reference: varchar({ length: 200 }).primaryKey() });

export const db = drizzle(process.env.MYSQL_URL ?? '');

export const store = mysqlStore(fromDrizzle(db), { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  await db.transaction(async (tx) => {
    await store.record(payment, { tx });
    await tx.insert(orders).values({ reference }).onDuplicateKeyUpdate({ set: { reference } });
  });
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      const [{ affectedRows }] = await tx
        .update(orders)
        .set({ status })
        .where(eq(orders.reference, reference));
      if (affectedRows === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      // A savepoint.
      await tx.transaction((nested) =>
        nested.insert(shipments).values({ reference }).onDuplicateKeyUpdate({ set: { reference } }),
      );
    }
  },
});
