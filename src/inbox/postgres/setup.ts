import { InboxError } from '../../errors.js';
import { date } from '../../protocol/options.js';
import { sqlStateOf } from '../../storage/postgres/failures.js';
import {
  maintenanceSettings,
  type OpenTransaction,
  onlyText,
  type Transactions,
} from '../../storage/postgres/transactions.js';
import type { QuotedTables, Timeouts } from './options.js';
import { schemaParts } from './schema.js';
import { isUnprocessed } from './statements.js';

// Any number that the application does not lock.
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
  transactions: Transactions<unknown>,
  tables: QuotedTables,
  { commandTimeoutMs }: Pick<Timeouts, 'commandTimeoutMs'>,
): Promise<void> {
  return transactions.run(async (transaction) => {
    const done = { end: 'commit', result: undefined } as const;
    await transaction.begin([maintenanceSettings(SETUP_LOCK_TIMEOUT_MS)], commandTimeoutMs);
    // CREATE INDEX IF NOT EXISTS locks the table before it looks, and a role without the right to
    // create may not even say it.
    if ((await findMissing(transaction, tables)).length === 0) return done;
    // CREATE TABLE IF NOT EXISTS fails where two of them meet.
    await transaction.query(`SELECT pg_advisory_xact_lock(${SETUP_LOCK})::text`);
    await transaction.query(`SET LOCAL lock_timeout = ${TABLE_LOCK_TIMEOUT_MS}`);
    for (const part of await findMissing(transaction, tables)) {
      const create = schemaParts(tables)[part]?.create ?? '';
      await transaction.query(create).catch((error) => {
        throw sqlStateOf(error) === LOCK_NOT_AVAILABLE ? setupBlocked(error) : error;
      });
    }
    return done;
  });
}

/** Which parts of the schema are not there. */
async function findMissing(
  transaction: Pick<OpenTransaction<unknown>, 'query'>,
  tables: QuotedTables,
): Promise<number[]> {
  const looks = schemaParts(tables).map(
    ({ exists }, part) => `CASE WHEN ${exists} THEN NULL ELSE ${part} END`,
  );
  const rows = await transaction.query(`SELECT concat_ws(' ', ${looks.join(', ')})`);
  const missing = onlyText(rows);
  return missing === '' ? [] : missing.split(' ').map(Number);
}

// A callback for one of a batch's payments waits until the batch is deleted.
const BATCH_SIZE = 1_000;

/**
 * Deletes what was last touched before `olderThan`, and gives the number of events and of failed changes.
 *
 * @throws {InvalidOptionError} when `olderThan` is not a valid Date
 */
export async function prune(
  transactions: Transactions<unknown>,
  { lockTimeoutMs, commandTimeoutMs }: Pick<Timeouts, 'lockTimeoutMs' | 'commandTimeoutMs'>,
  tables: QuotedTables,
  olderThan: Date,
): Promise<number> {
  const olderThanSeconds = date(olderThan, 'olderThan').getTime() / 1000;
  let total = 0;
  // Failures first: one of a processed change is known by its event.
  for (const statement of [
    failureBatch(tables, olderThanSeconds),
    eventBatch(tables, olderThanSeconds),
  ]) {
    for (let deleted = BATCH_SIZE; deleted === BATCH_SIZE; ) {
      deleted = await transactions.run(async (transaction) => {
        await transaction.begin([maintenanceSettings(lockTimeoutMs)], commandTimeoutMs);
        const rows = await transaction.query(statement);
        return { end: 'commit', result: Number(onlyText(rows)) };
      });
      total += deleted;
    }
  }
  return total;
}

// What has first failed later has last failed later too. Those of a processed change go at any age.
function failureBatch({ events, failures }: QuotedTables, olderThanSeconds: number): string {
  return `WITH old AS (
  SELECT payment_reference, key FROM ${failures} AS failure
  WHERE (first_failed_at < to_timestamp(${olderThanSeconds}) AND last_failed_at < to_timestamp(${olderThanSeconds})) OR NOT ${isUnprocessed(events)}
  ORDER BY first_failed_at LIMIT ${BATCH_SIZE} FOR UPDATE OF failure SKIP LOCKED
), deleted AS (
  DELETE FROM ${failures} WHERE (payment_reference, key) IN (SELECT payment_reference, key FROM old)
  RETURNING payment_reference
)
SELECT count(*)::text FROM deleted`;
}

// Of a payment that was last changed before the time, every event is as old. What is locked is being
// processed, or pruned by another process, and left out. Of a row that changed since this began,
// Postgres compares the new time.
function eventBatch({ payments, events }: QuotedTables, olderThanSeconds: number): string {
  return `WITH old AS (
  SELECT payment_reference, key FROM ${events} WHERE processed_at < to_timestamp(${olderThanSeconds})
  ORDER BY processed_at LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED
), deleted AS (
  DELETE FROM ${events} WHERE (payment_reference, key) IN (SELECT payment_reference, key FROM old)
  RETURNING payment_reference
), forgotten AS (
  DELETE FROM ${payments} WHERE payment_reference IN (
    SELECT payment_reference FROM ${payments}
    WHERE changed_at < to_timestamp(${olderThanSeconds}) AND payment_reference IN (SELECT payment_reference FROM deleted)
    FOR UPDATE SKIP LOCKED)
)
SELECT count(*)::text FROM deleted`;
}

function setupBlocked(cause: unknown): InboxError {
  return new InboxError(
    'INBOX_TIMEOUT',
    'setup() could not lock a table to create its missing index, because callbacks are using it; call setup() again later, or create the index with CREATE INDEX CONCURRENTLY under the name in postgresInboxSchema()',
    { cause },
  );
}
