import { RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { inbox, outbox } from './database.js';

export const handleCallback = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  inbox,
  outbox,
  async onPayment({ payment }, { tx, stale }) {
    const { merchantPaymentReference: reference, referenceNumber, status } = payment;
    // Once one payment is paid, another payment of the order changes nothing, nor does an older change.
    const { rows } = await tx.query(
      `UPDATE orders SET status = CASE WHEN $3 OR paid_by <> $4 THEN status ELSE $2 END,
         paid_by = CASE WHEN $2 = 'paid' THEN coalesce(paid_by, $4) ELSE paid_by END
       WHERE reference = $1 RETURNING reference`,
      [reference, status, stale, referenceNumber],
    );
    if (rows.length === 0) throw new RetryLaterError('order not stored', { retryAfterSeconds: 5 });
    if (status !== 'paid') return;
    await tx.query('INSERT INTO shipments (reference) VALUES ($1) ON CONFLICT DO NOTHING', [
      reference,
    ]);
  },
});
