import type { PoolConnection, ResultSetHeader } from 'mysql2/promise';
import { type OrderChange, takeTime } from './merchant-work.js';

/** Two writes, in the transaction of the store. */
export async function writeToMysql(
  tx: PoolConnection,
  { key, reference, status, current }: OrderChange,
): Promise<void> {
  const [{ insertId }] = await tx.query<ResultSetHeader>(
    'INSERT INTO effects (`key`, reference, status, is_current, began_at_ms) VALUES (?, ?, ?, ?, ?)',
    [key, reference, status, current, Date.now()],
  );
  await takeTime(key);
  if (current) {
    await tx.query(
      'INSERT INTO orders (reference, status) VALUES (?, ?) ON DUPLICATE KEY UPDATE status = ?',
      [reference, status, status],
    );
  }
  await tx.query('UPDATE effects SET done_at_ms = ? WHERE id = ?', [Date.now(), insertId]);
}
