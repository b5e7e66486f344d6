import { type ControlledTransaction, Kysely, PostgresDialect } from 'kysely';
import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { fromKysely, postgresInbox } from 'merchant-payments/inbox/postgres';
import pg from 'pg';

interface Tables {
  orders: { reference: string; status: string | null };
  shipments: { reference: string };
}

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
pool.on('error', ({ message }) => console.error(message)); // an idle connection that breaks
// One that breaks while it is used, for which Kysely does not listen: Node would end the process.
pool.on('connect', (client) => client.on('error', console.error));
const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });

export const inbox = postgresInbox(fromKysely(db));

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<ControlledTransaction<Tables>>,
) {
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const { numUpdatedRows } = await tx
      .updateTable('orders')
      .set({ status: payment.status })
      .where('reference', '=', reference)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  if (payment.status === 'paid') {
    await tx
      .insertInto('shipments')
      .values({ reference })
      .onConflict((conflict) => conflict.doNothing())
      .execute();
  }
}
