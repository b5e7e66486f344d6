import { inbox, outbox, pool } from './database.js';

const AT_MOST = { limit: 100 };

/** What needs a person. */
export async function readLists() {
  const { rows: waiting } = await pool.query(
    `SELECT reference, status, created_at AS "orderedAt" FROM orders
     WHERE reference NOT IN (SELECT reference FROM shipments)
       AND created_at < now() - interval '1 day' ORDER BY created_at DESC LIMIT $1`,
    [AT_MOST.limit],
  );
  return {
    unresolved: await collect(outbox.unresolved(AT_MOST)),
    secondPayments: await collect(outbox.secondPayments(AT_MOST)),
    failedChanges: await collect(inbox.failedChanges(AT_MOST)),
    waiting,
  };
}

async function collect<Item>(items: AsyncIterable<Item>): Promise<Item[]> {
  const all: Item[] = [];
  for await (const item of items) all.push(item);
  return all;
}
