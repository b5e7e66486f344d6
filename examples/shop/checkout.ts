import { RequestError } from 'merchant-payments';
import type { OutboxState } from 'merchant-payments/outbox';
import { outbox, transaction } from './database.js';

/** A click on "Pay". However often it is repeated, one reference has one payment. */
export async function checkout(reference: string, amount: number): Promise<OutboxState> {
  await transaction(async (tx) => {
    await tx.query('INSERT INTO orders (reference) VALUES ($1) ON CONFLICT DO NOTHING', [
      reference,
    ]);
    const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
    await outbox.record(payment, { tx });
  });
  try {
    return (await outbox.send(reference, { timeoutMs: 15_000 })).state;
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    console.error(`${reference}: ${error.message}`);
    // No payment exists. Its state is rejected, or still recorded: then `recover` sends it.
    return (await outbox.get(reference))?.state ?? 'recorded';
  }
}
