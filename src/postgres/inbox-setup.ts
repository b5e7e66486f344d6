import { StoreError } from '../errors.js';
import { date } from '../protocol/options.js';
import { sqlStateOf } from './failures.js';
import { TABLE_LOCK_TIMEOUT_MS } from './schema-parts.js';
import {
  maintenanceSettings,
  type OpenTransaction,
  onlyText,
  type Transactions,
} from './transactions.js';
import type { QuotedTables, Timeouts } from './inbox-options.js';
import { schemaParts } from './inbox-schema.js';
import { isUnprocessed } from './inbox-statements.js';

// An arbitrary number that the application is unlikely to lock.
const SETUP_LOCK = 7_161_998_226_001;
const SETUP_LOCK_TIMEOUT_MS = 60_000;
const LOCK_NOT_AVAILABLE = '55P03';

/**
 * Creates missing tables, indexes and functions.
 *
 * @throws {StoreError} `STORE_TIMEOUT` when a table stays in use for too long
 */
export function setup(
  transactions: Transactions<unknown>,
  tables: QuotedTables,
  { commandTimeoutMs }: Pick<Timeouts, 'commandTimeoutMs'>,
): Promise<void> {
  return transactions.run(async (transaction) => {
    const done = { end: 'commit', result: undefined } as const;
    await transaction.begin([maintenanceSettings(SETUP_LOCK_TIMEOUT_MS)], commandTimeoutMs);
    // CREATE INDEX IF NOT EXISTS locks the table before it checks, and fails for a role without the right to
    // create even if the index exists.
    if ((await findMissing(transaction, tables)).length === 0) return done;
    // Two concurrent CREATE TABLE IF NOT EXISTS can fail.
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

/** Resolves with the indexes of the missing parts of the schema. */
async function findMissing(
  transaction: Pick<OpenTransaction<unknown>, 'query'>,
  tables: QuotedTables,
): Promise<number[]> {
  const checks = schemaParts(tables).map(
    ({ exists }, part) => `CASE WHEN ${exists} THEN NULL ELSE ${part} END`,
  );
  const rows = await transaction.query(`SELECT concat_ws(' ', ${checks.join(', ')})`);
  const missing = onlyText(rows);
  return missing === '' ? [] : missing.split(' ').map(Number);
}

// A callback for one of a batch's payments waits until the batch is deleted.
const BATCH_SIZE = 1_000;

/**
 * Deletes events and failed changes older than `olderThan`. Resolves with how many of both.
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
  // Failures first: the failure of a processed change is recognized by its event.
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

// first_failed_at, which is indexed, is never later than last_failed_at. Failures of processed changes are deleted at
// any age.
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

// If a payment last changed before the time, all of its events did too. Locked rows are skipped: they are being
// processed, or pruned by another process. If a row has changed since the statement began, Postgres checks its new
// time.
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

function setupBlocked(cause: unknown): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    'setup() could not lock a table to create its missing index, because callbacks are using it; call setup() again later, or create the index with CREATE INDEX CONCURRENTLY under the name in postgresInboxSchema()',
    { cause },
  );
}
