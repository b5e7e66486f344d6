import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { fromPostgresJs, postgresStore } from 'merchant-payments/postgres';
import postgres from 'postgres';

const sql = postgres(process.env.DATABASE_URL ?? '');

export const store = postgresStore(fromPostgresJs(sql), { client: PaymentClient.fromEnv() });
await store.setup();

/** Stores an order and its payment, both or neither, and sends the payment. */
export async function checkout(reference: string, amount: number) {
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  await sql.begin(async (tx) => {
    await store.record(payment, { tx });
    await tx`INSERT INTO orders ${tx({ reference })} ON CONFLICT DO NOTHING`;
  });
  return store.send(reference);
}

export const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    // An older status must not replace a newer one.
    if (current) {
      const { count } = await tx`
        UPDATE orders SET status = ${status} WHERE reference = ${reference}`;
      if (count === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
    }
    // Done once, however late the change is.
    if (isPaid(payment)) {
      await tx`INSERT INTO shipments ${tx({ reference })} ON CONFLICT DO NOTHING`;
    }
  },
});
