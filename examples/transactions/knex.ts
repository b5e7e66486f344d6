import makeKnex from 'knex';
import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { fromKnex, postgresStore } from 'merchant-payments/postgres';

const knex = makeKnex({ client: 'pg', connection: process.env.DATABASE_URL ?? '' });

export const store = postgresStore(fromKnex(knex), { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  await knex.transaction(async (tx) => {
    await store.record(payment, { tx });
    await tx('orders').insert({ reference }).onConflict('reference').ignore();
  });
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      const updated = await tx('orders').where({ reference }).update({ status });
      if (updated === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      await tx('shipments').insert({ reference }).onConflict('reference').ignore();
    }
  },
});
