import { Kysely, PostgresDialect } from 'kysely';
import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { fromKysely, postgresStore } from 'merchant-payments/postgres';
import pg from 'pg';

interface Tables {
  orders: { reference: string; status?: string | null };
  shipments: { reference: string };
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
pool.on('error', ({ message }) => console.error(message)); // otherwise a broken idle connection crashes the process
// Kysely does not listen for a connection that breaks while it is used, which would crash the process too.
pool.on('connect', (client) => client.on('error', console.error));
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });

export const store = postgresStore(fromKysely(db), { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  await db.transaction().execute(async (tx) => {
    await store.record(payment, { tx });
    await tx
      .insertInto('orders')
      .values({ reference })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  });
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      const { numUpdatedRows } = await tx
        .updateTable('orders')
        .set({ status })
        .where('reference', '=', reference)
        .executeTakeFirst();
      if (numUpdatedRows === 0n) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      await tx
        .insertInto('shipments')
        .values({ reference })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
  },
});
