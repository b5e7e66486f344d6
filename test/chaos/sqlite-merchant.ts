import type BetterSqlite3 from 'better-sqlite3';
import { type OrderChange, takeTime } from './merchant-work.js';
import { openSqlite } from './sqlite-file.js';

interface SqliteMerchant {
  readonly database: BetterSqlite3.Database;
  /** One write, then all that is to be done once, guarded by the key; and the status, if it is the order's. */
  write(change: OrderChange): Promise<void>;
}

/** The merchant's own tables, in the store's file and on its connection. */
export function openSqliteMerchant(file: string): SqliteMerchant {
  // Short: all callbacks of the process wait meanwhile, one after another.
  const database = openSqlite(file, { timeoutMs: 10 });
  const insertEffect = database.prepare(
    `INSERT INTO effects (key, reference, order_reference, status, is_current, is_second, began_at_ms)
VALUES (?, ?, ?, ?, ?, ?, ?)`,
  );
  const guard = database.prepare('INSERT OR IGNORE INTO shipped_keys VALUES (?)');
  const ship = database.prepare(`INSERT INTO orders (reference, shipments) VALUES (?, 1)
ON CONFLICT (reference) DO UPDATE SET shipments = shipments + 1`);
  const mirror = database.prepare('UPDATE orders SET status = ? WHERE reference = ?');
  const endEffect = database.prepare('UPDATE effects SET done_at_ms = ? WHERE id = ?');
  const finish = database.transaction(
    (run: number | bigint, { key, order, status, current }: OrderChange) => {
      if (guard.run(key).changes === 1) ship.run(order);
      if (current) mirror.run(status, order);
      endEffect.run(Date.now(), run);
    },
  );
  return {
    database,
    async write(change) {
      const { key, reference, order, status, current, second } = change;
      const { lastInsertRowid } = insertEffect.run(
        key,
        reference,
        order,
        status,
        Number(current),
        Number(second),
        Date.now(),
      );
      await takeTime(key);
      finish.immediate(lastInsertRowid, change);
      // What fails or dies here is run again, and finds the goods shipped.
      await takeTime(key);
    },
  };
}
