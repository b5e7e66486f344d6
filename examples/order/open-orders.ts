import type { Creation } from './checkout.js';
import { pool } from './database.js';

export interface OpenOrder {
  reference: string;
  creation: Creation;
  created_at: Date;
}

/** Orders that may have a payment, but have had no callback for so many minutes. */
export async function listOpenOrders(minutes: number): Promise<OpenOrder[]> {
  const { rows } = await pool.query<OpenOrder>(
    `SELECT reference, creation, created_at FROM orders
     WHERE status IS NULL AND creation <> 'failed'
       AND created_at < now() - make_interval(mins => $1)
     ORDER BY created_at`,
    [minutes],
  );
  return rows;
}

/** A person has looked: the service has no payment of this order. The customer may try again. */
export async function markAsFailed(reference: string): Promise<void> {
  await pool.query(
    "UPDATE orders SET creation = 'failed' WHERE reference = $1 AND status IS NULL",
    [reference],
  );
}
