import type { CallbackInbox } from '../../src/inbox/inbox.js';
import { sqliteInbox } from '../../src/inbox/sqlite/sqlite-inbox.js';
import { openSqlite } from './sqlite-file.js';
import { LEASE_MS } from './timing.js';

/** One change, as the merchant's function has it. */
interface Change {
  readonly key: string;
  readonly reference: string;
  readonly status: string;
  readonly stale: boolean;
}

interface SqliteMerchant {
  readonly inbox: CallbackInbox;
  /** The first write. Gives the number of the run. */
  begin(change: Change): number | bigint;
  /** All that is to be done once, guarded by the key; and the status, unless it is an old one. */
  finish(run: number | bigint, change: Change): void;
}

/** The inbox and the merchant's own tables, in one file and on one connection. */
export function openSqliteMerchant(file: string): SqliteMerchant {
  // Short: all callbacks of the process wait meanwhile, one after another.
  const database = openSqlite(file, { timeoutMs: 10 });
  const insertEffect = database.prepare(
    'INSERT INTO effects (key, reference, status, stale, began_at_ms) VALUES (?, ?, ?, ?, ?)',
  );
  const guard = database.prepare('INSERT OR IGNORE INTO shipped_keys VALUES (?)');
  const ship = database.prepare(`INSERT INTO orders (reference, shipments) VALUES (?, 1)
ON CONFLICT (reference) DO UPDATE SET shipments = shipments + 1`);
  const mirror = database.prepare('UPDATE orders SET status = ? WHERE reference = ?');
  const endEffect = database.prepare('UPDATE effects SET done_at_ms = ? WHERE id = ?');
  const finish = database.transaction(
    (run: number | bigint, { key, reference, status, stale }: Change) => {
      if (guard.run(key).changes === 1) ship.run(reference);
      if (!stale) mirror.run(status, reference);
      endEffect.run(Date.now(), run);
    },
  );
  return {
    inbox: sqliteInbox(database, { leaseMs: LEASE_MS }),
    begin: ({ key, reference, status, stale }) =>
      insertEffect.run(key, reference, status, Number(stale), Date.now()).lastInsertRowid,
    finish: (run, change) => finish.immediate(run, change),
  };
}
