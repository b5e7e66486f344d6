import type pg from 'pg';
import { type OrderChange, takeTime } from './merchant-work.js';

/** Two writes, in the transaction of the store where it has one. */
export async function writeToPostgres(
  tx: pg.Pool | pg.PoolClient,
  { key, reference, status, current }: OrderChange,
): Promise<void> {
  const { rows } = await tx.query(
    `INSERT INTO effects (key, reference, status, is_current, began_at_ms)
VALUES ($1, $2, $3, $4, $5) RETURNING id`,
    [key, reference, status, current, Date.now()],
  );
  await takeTime(key);
  if (current) {
    await tx.query(
      `INSERT INTO orders (reference, status) VALUES ($1, $2)
ON CONFLICT (reference) DO UPDATE SET status = excluded.status`,
      [reference, status],
    );
  }
  await tx.query('UPDATE effects SET done_at_ms = $2 WHERE id = $1', [rows[0].id, Date.now()]);
}
