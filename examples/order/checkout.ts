import { ApiError, type CreatePaymentInput, PaymentClient, RequestError } from 'merchant-payments';
import { pool } from './database.js';

export type Creation = 'sending' | 'created' | 'failed' | 'unknown';

export const client = PaymentClient.fromEnv();

export async function checkout(input: CreatePaymentInput): Promise<Creation> {
  const reference = input.merchantPaymentReference;
  // Committed before anything is sent. One caller gets the row back, and only that one sends.
  const claimed = await pool.query(
    `INSERT INTO orders (reference) VALUES ($1)
     ON CONFLICT (reference) DO UPDATE SET creation = 'sending', created_at = now()
       WHERE orders.creation = 'failed'
     RETURNING reference`,
    [reference],
  );
  if (claimed.rows.length > 0) {
    const creation = await send(input);
    // A callback may have been faster: it has set 'created', which stays.
    await pool.query(
      "UPDATE orders SET creation = $2 WHERE reference = $1 AND creation = 'sending'",
      [reference, creation],
    );
  }
  const { rows } = await pool.query('SELECT creation FROM orders WHERE reference = $1', [
    reference,
  ]);
  return rows[0].creation;
}

async function send(input: CreatePaymentInput): Promise<Creation> {
  try {
    await client.payments.create(input);
    return 'created';
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    console.error(input.merchantPaymentReference, error);
    // A 409 may mean that an earlier call has created the payment.
    if (error instanceof ApiError && error.httpStatus === 409) return 'unknown';
    switch (error.requestOutcome) {
      case 'accepted':
        return 'created';
      case 'not-sent':
      case 'rejected':
        return 'failed';
      case 'unknown':
        return 'unknown';
    }
  }
}
