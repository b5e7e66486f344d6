import makeKnex, { type Knex } from 'knex';
import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { fromKnex, postgresInbox } from 'merchant-payments/inbox/postgres';

const knex = makeKnex({ client: 'pg', connection: process.env.DATABASE_URL ?? '' });

export const inbox = postgresInbox(fromKnex(knex));

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<Knex.Transaction>,
) {
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const updated = await tx('orders').where({ reference }).update({ status: payment.status });
    if (updated === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  if (payment.status === 'paid') {
    await tx('shipments').insert({ reference }).onConflict('reference').ignore();
  }
}
