import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import type pg from 'pg';
import { DataSource, EntitySchema } from 'typeorm';

const orders = new EntitySchema<{ reference: string; status: string | null }>({
  name: 'orders',
  columns: {
    reference: { type: 'text', primary: true },
    status: { type: 'text', nullable: true },
  },
});
const shipments = new EntitySchema<{ reference: string }>({
  name: 'shipments',
  columns: { reference: { type: 'text', primary: true } },
});
export const dataSource = new DataSource({
  type: 'postgres',
  url: process.env.DATABASE_URL ?? '',
  entities: [orders, shipments],
});
await dataSource.initialize();

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<pg.PoolClient>,
) {
  // Where a query runner keeps its connection; TypeORM has no option for it.
  const runner = Object.assign(dataSource.createQueryRunner(), { databaseConnection: tx });
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const { affected } = await runner.manager.update(
      orders,
      { reference },
      { status: payment.status },
    );
    if (affected === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  // save() begins a transaction: a savepoint.
  if (payment.status === 'paid') await runner.manager.save(shipments, { reference });
}
