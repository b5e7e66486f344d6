import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { fromDrizzle, postgresStore } from 'merchant-payments/postgres';

const orders = pgTable('orders', {
  reference: text().primaryKey(),
  status: text(),
});
const shipments = pgTable('shipments', { reference: text().primaryKey() });

const db = drizzle(process.env.DATABASE_URL ?? '');
db.$client.on('error', ({ message }) => console.error(message));

export const store = postgresStore(fromDrizzle(db), { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  await db.transaction(async (tx) => {
    await store.record(payment, { tx });
    await tx.insert(orders).values({ reference }).onConflictDoNothing();
  });
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      const { rowCount } = await tx
        .update(orders)
        .set({ status })
        .where(eq(orders.reference, reference));
      if (rowCount === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      // A savepoint.
      await tx.transaction((nested) =>
        nested.insert(shipments).values({ reference }).onConflictDoNothing(),
      );
    }
  },
});
