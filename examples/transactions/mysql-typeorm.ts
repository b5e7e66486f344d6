import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { fromTypeOrm, mysqlInbox } from 'merchant-payments/inbox/mysql';
import { DataSource, type EntityManager, EntitySchema } from 'typeorm';

const orders = new EntitySchema<{ reference: string; status: string | null }>({
  name: 'orders',
  columns: {
    reference: { type: 'varchar', length: 200, primary: true },
    status: { type: 'varchar', length: 50, nullable: true },
  },
});
const shipments = new EntitySchema<{ reference: string }>({
  name: 'shipments',
  columns: { reference: { type: 'varchar', length: 200, primary: true } },
});
export const dataSource = new DataSource({
  type: 'mysql',
  url: process.env.MYSQL_URL ?? '',
  entities: [orders, shipments],
});
await dataSource.initialize();

export const inbox = mysqlInbox(fromTypeOrm(dataSource));
await inbox.setup();

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<EntityManager>,
) {
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const { affected } = await tx.update(orders, { reference }, { status: payment.status });
    if (affected === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  // save() begins a transaction: a savepoint.
  if (payment.status === 'paid') await tx.save(shipments, { reference });
}
