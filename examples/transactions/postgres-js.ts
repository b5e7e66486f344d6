import { RetryLaterError, type VerifiedCallback } from 'merchant-payments';
import type { InboxContext } from 'merchant-payments/inbox';
import { fromPostgresJs, postgresInbox } from 'merchant-payments/inbox/postgres';
import postgres, { type TransactionSql } from 'postgres';

const sql = postgres(process.env.DATABASE_URL ?? '');

export const inbox = postgresInbox(fromPostgresJs(sql));

export async function onPayment(
  { payment }: VerifiedCallback,
  { tx, stale }: InboxContext<TransactionSql>,
) {
  const reference = payment.merchantPaymentReference;
  if (!stale) {
    const { count } = await tx`
      UPDATE orders SET status = ${payment.status} WHERE reference = ${reference}`;
    if (count === 0) throw new RetryLaterError(`Order ${reference} is not stored yet`);
  }
  if (payment.status === 'paid') {
    await tx`INSERT INTO shipments ${tx({ reference })} ON CONFLICT DO NOTHING`;
  }
}
