import { StoreError } from 'merchant-payments';
import { store, transaction } from './database.js';

/**
 * A click on "Pay". Another one sends no second payment, except after a decline, when it tries again. Resolves once
 * the order is stored, even if the call fails: its page shows the payment's state.
 */
export async function checkout(merchantPaymentReference: string, amount: number): Promise<void> {
  try {
    await transaction(async (tx) => {
      // First, since a callback too locks the payment before it writes the order.
      await store.record({ merchantPaymentReference, amount, currency: 'EUR' }, { tx });
      await tx.query(
        'INSERT INTO orders (merchant_payment_reference) VALUES ($1) ON CONFLICT DO NOTHING',
        [merchantPaymentReference],
      );
    });
  } catch (error) {
    // The cart has changed since the first click, whose payment the order's page shows.
    if (error instanceof StoreError && error.code === 'REFERENCE_CONFLICT') return;
    throw error;
  }
  const { error } = await store
    .send(merchantPaymentReference, { timeoutMs: 15_000 })
    .catch((thrown: Error) => ({ error: thrown }));
  // Not shown to the customer, who would order again: the payment may exist, or be sent later.
  if (error) console.error(`${merchantPaymentReference}: ${error.message}`);
}
