import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { fromDrizzle, postgresInbox } from 'merchant-payments/inbox/postgres';

const orders = pgTable('orders', {
  reference: text().primaryKey(),
  status: text(),
});
const shipments = pgTable('shipments', { reference: text().primaryKey() });

const db = drizzle(process.env.DATABASE_URL ?? '');
db.$client.on('error', ({ message }) => console.error(message));
type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0];

export const inbox = postgresInbox(fromDrizzle(db));

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<Transaction>,
) {
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const { rowCount } = await tx
      .update(orders)
      .set({ status: payment.status })
      .where(eq(orders.reference, reference));
    if (rowCount === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  if (payment.status === 'paid') {
    // A savepoint.
    await tx.transaction((nested) =>
      nested.insert(shipments).values({ reference }).onConflictDoNothing(),
    );
  }
}
