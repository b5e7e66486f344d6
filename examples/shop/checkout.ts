import { outbox, transaction } from './database.js';

/**
 * A click on "Pay". However often it is repeated, one reference has one payment. Resolves once the order is
 * stored, even if the call fails: its page shows the payment's state.
 */
export async function checkout(reference: string, amount: number): Promise<void> {
  await transaction(async (tx) => {
    await tx.query('INSERT INTO orders (reference) VALUES ($1) ON CONFLICT DO NOTHING', [
      reference,
    ]);
    const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
    await outbox.record(payment, { tx });
  });
  const { error } = await outbox
    .send(reference, { timeoutMs: 15_000 })
    .catch((thrown: Error) => ({ error: thrown }));
  // Not shown to the customer, who would order again: the payment may exist, or be sent later.
  if (error) console.error(`${reference}: ${error.message}`);
}
