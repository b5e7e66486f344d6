import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { postgresInbox } from 'merchant-payments/inbox/postgres';
import { callbackHandler } from 'merchant-payments/node';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
pool.on('error', ({ message }) => console.error(message)); // an idle connection that breaks
export const inbox = postgresInbox<pg.PoolClient>(pool);
await inbox.setup();

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<pg.PoolClient>,
) {
  const reference = payment.merchantPaymentReference;
  // Mirrored: an older status must not replace a newer one.
  if (!stale) {
    const { rowCount } = await tx.query('UPDATE orders SET status = $2 WHERE reference = $1', [
      reference,
      payment.status,
    ]);
    if (rowCount === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  // Done once, even if a newer status was processed first.
  if (payment.status === 'paid') {
    await tx.query('INSERT INTO shipments (reference) VALUES ($1) ON CONFLICT DO NOTHING', [
      reference,
    ]);
  }
}

export const handler = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  inbox,
  onPayment,
});
