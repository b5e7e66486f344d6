import { RetryLaterError } from 'merchant-payments';
import { callbackHandler } from 'merchant-payments/node';
import { inbox, outbox } from './database.js';

export const handleCallback = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  inbox,
  outbox,
  async onPayment({ payment }, { tx, stale, secondPayment }) {
    const { merchantPaymentReference: reference, status } = payment;
    // A newer change was processed before, or it is a payment that is to be refunded.
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
