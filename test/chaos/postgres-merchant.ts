import type pg from 'pg';
import { type OrderChange, takeTime } from './merchant-work.js';

/** Two writes, in the transaction of the store where it has one. */
export async function writeToPostgres(
  tx: pg.Pool | pg.PoolClient,
  { key, reference, order, status, current, second }: OrderChange,
): Promise<void> {
  const { rows } = await tx.query(
    `INSERT INTO effects (key, reference, order_reference, status, is_current, is_second, began_at_ms)
VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id`,
    [key, reference, order, status, current, second, Date.now()],
  );
  await takeTime(key);
  if (current) {
    await tx.query(
      `INSERT INTO orders (reference, status) VALUES ($1, $2)
ON CONFLICT (reference) DO UPDATE SET status = excluded.status`,
      [order, status],
    );
  }
  await tx.query('UPDATE effects SET done_at_ms = $2 WHERE id = $1', [rows[0].id, Date.now()]);
}
