import { eq } from 'drizzle-orm';
import { mysqlTable, varchar } from 'drizzle-orm/mysql-core';
import { drizzle } from 'drizzle-orm/mysql2';
import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { fromDrizzle, mysqlInbox } from 'merchant-payments/inbox/mysql';

const orders = mysqlTable('orders', {
  reference: varchar({ length: 200 }).primaryKey(),
  status: varchar({ length: 50 }),
});
const shipments = mysqlTable('shipments', { reference: varchar({ length: 200 }).primaryKey() });

export const db = drizzle(process.env.MYSQL_URL ?? '');
type Transaction = Parameters<Parameters<typeof db.transaction>[0]>[0];

export const inbox = mysqlInbox(fromDrizzle(db));
await inbox.setup();

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<Transaction>,
) {
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const [{ affectedRows }] = await tx
      .update(orders)
      .set({ status: payment.status })
      .where(eq(orders.reference, reference));
    if (affectedRows === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  if (payment.status === 'paid') {
    // A savepoint.
    await tx.transaction((nested) =>
      nested.insert(shipments).values({ reference }).onDuplicateKeyUpdate({ set: { reference } }),
    );
  }
}
