import { Kysely, PostgresDialect } from 'kysely';
import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import type pg from 'pg';

interface Tables {
  orders: { reference: string; status: string | null };
  shipments: { reference: string };
}

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<pg.PoolClient>,
) {
  // A pool that always gives tx; Kysely's release() of it does nothing.
  const pool = { connect: async () => tx, end: async () => {} };
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) });
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const { numUpdatedRows } = await db
      .updateTable('orders')
      .set({ status: payment.status })
      .where('reference', '=', reference)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  if (payment.status === 'paid') {
    await db.transaction().execute((nested) =>
      nested
        .insertInto('shipments')
        .values({ reference })
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  }
}
