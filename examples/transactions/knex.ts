import makeKnex from 'knex';
import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import type pg from 'pg';

const knex = makeKnex({ client: 'pg' }); // or the knex that you have

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<pg.PoolClient>,
) {
  const reference = payment.merchantPaymentReference;
  await knex.transaction(
    async (nested) => {
      if (!stale) {
        const updated = await nested('orders')
          .where({ reference })
          .update({ status: payment.status });
        if (updated === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
      }
      if (payment.status === 'paid') {
        await nested('shipments').insert({ reference }).onConflict('reference').ignore();
      }
    },
    { connection: tx },
  );
}
