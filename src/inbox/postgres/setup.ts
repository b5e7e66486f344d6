import { setupBlocked, sqlStateOf } from './failures.js';
import type { Queryable } from './pool.js';
import { type QuotedTables, schemaParts } from './schema.js';
import type { Transactions } from './transactions.js';

// Any number will do that nobody else locks.
const SETUP_LOCK = 7_161_998_226_001;
const SETUP_LOCK_TIMEOUT_MS = 60_000;
// Callbacks wait behind a statement that waits for a table.
const TABLE_LOCK_TIMEOUT_MS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Makes the tables and indexes that do not exist.
 *
 * @throws {InboxError} `INBOX_TIMEOUT` when a table is in use for too long
 */
export function setup(transactions: Transactions<Queryable>, tables: QuotedTables): Promise<void> {
  return transactions.run(SETUP_LOCK_TIMEOUT_MS, async ({ tx }) => {
    const done = { end: 'commit', result: undefined } as const;
    // CREATE INDEX IF NOT EXISTS locks the table before it looks, and a role without the right to
    // create may not even say it.
    if ((await findMissing(tx, tables)).length === 0) return done;
    // CREATE TABLE IF NOT EXISTS fails where two of them meet.
    await tx.query(`SELECT pg_advisory_xact_lock(${SETUP_LOCK})`);
    await tx.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
    for (const statement of await findMissing(tx, tables)) {
      await tx.query(statement).catch((error) => {
        throw sqlStateOf(error) === LOCK_NOT_AVAILABLE ? setupBlocked(error) : error;
      });
    }
    return done;
  });
}

/** The statements that make what is not there. */
async function findMissing(tx: Queryable, tables: QuotedTables): Promise<string[]> {
  const parts = schemaParts(tables);
  const { rows } = await tx.query<{ present: boolean[] }>(
    `SELECT ARRAY[${parts.map(({ exists }) => exists).join(', ')}] AS present`,
  );
  const [{ present }] = rows as [{ present: boolean[] }];
  return parts.filter((_part, index) => !present[index]).map(({ create }) => create);
}
