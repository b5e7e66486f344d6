// The hand-written half of the integration, which goes at the end of the move.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { database, readOrder } from './orders.js';

const {
  MERCHANT_PAYMENTS_BASE_URL = '',
  MERCHANT_PAYMENTS_API_KEY = '',
  MERCHANT_PAYMENTS_API_SECRET = '',
  MERCHANT_PAYMENTS_SIGNING_SECRET = '',
} = process.env;
const credentials = `${MERCHANT_PAYMENTS_API_KEY}:${MERCHANT_PAYMENTS_API_SECRET}`;

/** Creates an order's payment. After a lost answer, the next click creates a second one. */
export async function createByHand(reference: string, amount: number): Promise<void> {
  if (readOrder(reference)?.reference_number) return;
  const response = await fetch(new URL('/api/payments', MERCHANT_PAYMENTS_BASE_URL), {
    method: 'POST',
    headers: {
      authorization: `Basic ${Buffer.from(credentials).toString('base64')}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ merchantPaymentReference: reference, amount, currency: 'EUR' }),
  });
  if (!response.ok) throw new Error(`The service answered ${response.status}`);
  const { referenceNumber } = (await response.json()) as { referenceNumber: string };
  database
    .prepare('UPDATE orders SET reference_number = ? WHERE reference = ?')
    .run(referenceNumber, reference);
}

/** Whether a callback is genuine, if the service writes JSON as JSON.stringify does. */
export function isGenuine(body: unknown, timestamp = '', signature = ''): boolean {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false;
  const digest = createHmac('sha256', MERCHANT_PAYMENTS_SIGNING_SECRET)
    .update(`${timestamp}.${JSON.stringify(body)}`)
    .digest();
  const received = Buffer.from(signature, 'hex');
  return received.length === digest.length && timingSafeEqual(received, digest);
}
