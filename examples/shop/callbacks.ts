import { RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { inbox, outbox } from './database.js';

export const handleCallback = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  inbox,
  outbox,
  async onPayment({ payment }, { tx, stale, secondPayment }) {
    const { merchantPaymentReference: reference, status } = payment;
    // The order keeps its status if a newer change was processed, or if a second payment is anything but paid.
    const keepsStatus = stale || (secondPayment && status !== 'paid');
    const { rows } = await tx.query(
      'UPDATE orders SET status = CASE WHEN $3 THEN status ELSE $2 END WHERE reference = $1 RETURNING reference',
      [reference, status, keepsStatus],
    );
    if (rows.length === 0) throw new RetryLaterError('order not stored', { retryAfterSeconds: 5 });
    if (status !== 'paid') return;
    await tx.query('INSERT INTO shipments (reference) VALUES ($1) ON CONFLICT DO NOTHING', [
      reference,
    ]);
  },
});
