import { eq } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/node-postgres';
import { pgTable, text } from 'drizzle-orm/pg-core';
import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import type pg from 'pg';

const orders = pgTable('orders', {
  reference: text().primaryKey(),
  status: text(),
});
const shipments = pgTable('shipments', { reference: text().primaryKey() });

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<pg.PoolClient>,
) {
  const db = drizzle(tx);
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const { rowCount } = await db
      .update(orders)
      .set({ status: payment.status })
      .where(eq(orders.reference, reference));
    if (rowCount === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  if (payment.status === 'paid') {
    await db.transaction((nested) =>
      nested.insert(shipments).values({ reference }).onConflictDoNothing(),
    );
  }
}
