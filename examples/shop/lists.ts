import type { Attention } from 'merchant-payments/store';
import { pool, store } from './database.js';

/** What needs a person. */
export async function readAttention(): Promise<Attention[]> {
  const items: Attention[] = [];
  for await (const item of store.attention({ limit: 500 })) items.push(item);
  return items;
}

/** Orders that were not paid within a day: abandoned, or a callback is lost. */
export async function readUnpaid() {
  const { rows } = await pool.query(
    `SELECT merchant_payment_reference AS reference, status, created_at AS since
     FROM orders LEFT JOIN shipments USING (merchant_payment_reference)
     WHERE shipments IS NULL AND created_at < now() - interval '1 day'
     ORDER BY created_at DESC LIMIT 100`,
  );
  return rows;
}
