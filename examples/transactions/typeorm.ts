import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { fromTypeOrm, postgresStore } from 'merchant-payments/postgres';
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

export const store = postgresStore(fromTypeOrm(dataSource), { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  await dataSource.transaction(async (tx) => {
    await store.record(payment, { tx });
    await tx.upsert(orders, { reference }, ['reference']);
  });
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      const { affected } = await tx.update(orders, { reference }, { status });
      if (affected === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      await tx.save(shipments, { reference }); // save() begins a transaction: a savepoint
    }
  },
});
