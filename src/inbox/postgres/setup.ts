import { onlyText } from './answer.js';
import { explainMissing, setupBlocked, sqlStateOf } from './failures.js';
import type { ResolvedOptions } from './options.js';
import type { Queryable } from './pool.js';
import { schemaParts } from './schema.js';
import type { QuotedTables } from './tables.js';
import { maintenanceSettings, type Transactions } from './transactions.js';

// Any number will do that nobody else locks.
const SETUP_LOCK = 7_161_998_226_001;
const SETUP_LOCK_TIMEOUT_MS = 60_000;
// Callbacks wait behind a statement that waits for a table.
const TABLE_LOCK_TIMEOUT_MS = 2_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Makes the tables, indexes and functions that do not exist.
 *
 * @throws {InboxError} `INBOX_TIMEOUT` when a table is in use for too long
 */
export function setup(
  transactions: Transactions<Queryable>,
  tables: QuotedTables,
  { commandTimeoutMs }: Pick<ResolvedOptions, 'commandTimeoutMs'>,
): Promise<void> {
  return transactions.run(async (transaction) => {
    const done = { end: 'commit', result: undefined } as const;
    await transaction.begin(maintenanceSettings(SETUP_LOCK_TIMEOUT_MS), commandTimeoutMs);
    const { tx } = transaction;
    // CREATE INDEX IF NOT EXISTS locks the table before it looks, and a role without the right to
    // create may not even say it.
    if ((await findMissing(tx, tables)).length === 0) return done;
    // CREATE TABLE IF NOT EXISTS fails where two of them meet.
    await tx.query(`SELECT pg_advisory_xact_lock(${SETUP_LOCK})`);
    await tx.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
    for (const part of await findMissing(tx, tables)) {
      const create = schemaParts(tables)[part]?.create ?? '';
      await tx.query(create).catch((error) => {
        throw sqlStateOf(error) === LOCK_NOT_AVAILABLE ? setupBlocked(error) : error;
      });
    }
    return done;
  });
}

/**
 * Says which option names a table that does not exist.
 *
 * @throws {InvalidOptionError} always
 */
export async function explainMissingTable(
  transactions: Transactions<Queryable>,
  { payments }: QuotedTables,
  { commandTimeoutMs }: Pick<ResolvedOptions, 'commandTimeoutMs'>,
  cause: unknown,
): Promise<never> {
  const option = await transactions.run(async (transaction) => {
    const rows = await transaction.begin(
      `SELECT CASE WHEN to_regclass('${payments}') IS NULL THEN 'paymentsTable' ELSE 'eventsTable' END`,
      commandTimeoutMs,
    );
    return { end: 'rollback', result: onlyText(rows) };
  });
  return explainMissing(option, cause);
}

/** Which parts of the schema are not there. */
async function findMissing(tx: Queryable, tables: QuotedTables): Promise<number[]> {
  const looks = schemaParts(tables).map(
    ({ exists }, part) => `CASE WHEN ${exists} THEN NULL ELSE ${part} END`,
  );
  const { rows } = await tx.query(`SELECT concat_ws(' ', ${looks.join(', ')})`);
  const missing = onlyText(rows);
  return missing === '' ? [] : missing.split(' ').map(Number);
}
