import { callbackHandler, isPaid, RetryLaterError } from 'merchant-payments/node';
import { store } from './database.js';

export const handleCallback = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order, current }) {
    const { referenceNumber, status } = payment;
    // Not for an older change, nor for another payment of an order that is paid.
    if (current) {
      const { rowCount } = await tx.query(
        'UPDATE orders SET status = $2, reference_number = $3 WHERE merchant_payment_reference = $1',
        [order, status, referenceNumber],
      );
      if (rowCount === 0) throw new RetryLaterError('order not stored', { retryAfterSeconds: 5 });
    }
    if (isPaid(payment)) {
      await tx.query('INSERT INTO shipments VALUES ($1) ON CONFLICT DO NOTHING', [order]);
    }
  },
});
