import type { PoolConnection, ResultSetHeader } from 'mysql2/promise';
import { type OrderChange, takeTime } from './merchant-work.js';

/** Two writes, in the transaction of the store. */
export async function writeToMysql(
  tx: PoolConnection,
  { key, reference, order, status, current, second }: OrderChange,
): Promise<void> {
  const [{ insertId }] = await tx.query<ResultSetHeader>(
    'INSERT INTO effects (`key`, reference, order_reference, status, is_current, is_second, began_at_ms) VALUES (?, ?, ?, ?, ?, ?, ?)',
    [key, reference, order, status, current, second, Date.now()],
  );
  await takeTime(key);
  if (current) {
    await tx.query(
      'INSERT INTO orders (reference, status) VALUES (?, ?) ON DUPLICATE KEY UPDATE status = ?',
      [order, status, status],
    );
  }
  await tx.query('UPDATE effects SET done_at_ms = ? WHERE id = ?', [Date.now(), insertId]);
}
