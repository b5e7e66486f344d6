import { date } from '../protocol/options.js';
import { errnoOf, isMissingTable } from './failures.js';
import type { QuotedTables, Timeouts } from './inbox-options.js';
import { createProcedures, createTables } from './inbox-schema.js';
import { isUnprocessed, LOCKS } from './inbox-statements.js';
import { literal } from './literal.js';
import type { MysqlTransactions } from './mysql-transactions.js';
import { ASSERT_BEGUN, COMMIT, ROLLBACK, type SessionLimits } from './session.js';

type Ask = (statement: string) => Promise<readonly string[]>;

/** Creates missing tables and procedures. */
export function setup(
  transactions: MysqlTransactions<unknown>,
  tables: QuotedTables,
  { transactionTimeoutMs }: Pick<Timeouts, 'transactionTimeoutMs'>,
): Promise<void> {
  return transactions.run(async (connection) => {
    // Each statement may take up to the deadline of the whole, as it may wait for another process that runs setup.
    const ask: Ask = (statement) => connection.ask(statement, transactionTimeoutMs);
    try {
      await createMissingTables(ask, tables);
      await createMissingProcedures(ask, tables);
    } finally {
      // Without autocommit, the SELECTs have begun a transaction.
      await ask(ROLLBACK);
    }
    return { end: 'nothing', result: undefined };
  });
}

/** Runs a statement that creates something, whatever the session's transaction defaults are. */
async function create(ask: Ask, statement: string): Promise<void> {
  for (const each of [ROLLBACK, 'SET TRANSACTION READ WRITE', statement, COMMIT]) await ask(each);
}

async function createMissingTables(ask: Ask, tables: QuotedTables): Promise<void> {
  const statements = createTables(tables);
  // Checked first: CREATE TABLE IF NOT EXISTS fails for a user without the right to create, even if the table exists.
  const checkEvents = `SELECT CONCAT(payment_reference, event_key, occurred_at_us, latest_us, processed_at_us) FROM ${tables.events} LIMIT 0`;
  if ((await unlessMissing(ask(checkEvents))) === undefined) await create(ask, statements.events);
  const checkFailures = `SELECT CONCAT(payment_reference, event_key, full_names, occurred_at_us, attempts, first_failed_at_us, last_failed_at_us, parked, error, HEX(raw_body)) FROM ${tables.failures} LIMIT 0`;
  if ((await unlessMissing(ask(checkFailures))) === undefined)
    await create(ask, statements.failures);
  const count = `SELECT CAST(COUNT(holder) AS CHAR) FROM ${tables.locks}`;
  const counted = await unlessMissing(ask(count));
  if (counted === undefined) await create(ask, statements.locks);
  if (counted?.[0] !== String(LOCKS)) await create(ask, statements.fill);
  // Fails if a table lacks a column.
  for (const check of [checkEvents, checkFailures]) await ask(check);
}

async function unlessMissing(asked: Promise<readonly string[]>) {
  return asked.catch((error: unknown) => {
    if (isMissingTable(error)) return undefined;
    throw error;
  });
}

const ALREADY_EXISTS = 1304;
// ER_DBACCESS_DENIED_ERROR, ER_ACCESS_DENIED_ERROR, ER_PROCACCESS_DENIED_ERROR, ER_SPECIFIC_ACCESS_DENIED_ERROR.
const DENIED: readonly unknown[] = [1044, 1045, 1370, 1227];

// The procedures are optional, since the inbox can send more statements instead: a user who may not create them does
// without.
async function createMissingProcedures(ask: Ask, tables: QuotedTables): Promise<void> {
  for (const [name, statements] of Object.entries(createProcedures(tables))) {
    const [found] = await ask(countProcedures(tables[name as 'claim' | 'record']));
    if (found === '1') continue;
    await create(ask, statements.create).catch((error) => {
      if (errnoOf(error) !== ALREADY_EXISTS && !DENIED.includes(errnoOf(error))) throw error;
    });
  }
}

function countProcedures(procedure: string): string {
  const [name, database] = procedure.replaceAll('`', '').split('.').reverse();
  const schema = database === undefined ? 'DATABASE()' : `'${database}'`;
  return `SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.routines
WHERE routine_schema = ${schema} AND routine_name = '${name}' AND routine_type = 'PROCEDURE'`;
}

// A callback for one of a batch's payments waits until the batch is deleted.
const BATCH_SIZE = 200;

/**
 * Deletes events and failed changes older than `olderThan`. Resolves with how many of both.
 * Reads each table once, in the order of its primary key.
 *
 * @throws {InvalidOptionError} when `olderThan` is not a valid Date
 */
export async function prune(
  transactions: MysqlTransactions<unknown>,
  timeouts: PruneTimeouts,
  { events, failures }: QuotedTables,
  olderThan: Date,
): Promise<number> {
  const olderThanUs = BigInt(date(olderThan, 'olderThan').getTime()) * 1000n;
  // Failures first: the failure of a processed change is recognized by its event, and deleted at any age.
  const isOldFailure = `(last_failed_at_us < ${olderThanUs} OR NOT ${isUnprocessed(events)})`;
  const forgotten = await deleteOld(transactions, timeouts, `${failures} AS failure`, isOldFailure);
  const isOld = `processed_at_us < ${olderThanUs}`;
  return forgotten + (await deleteOld(transactions, timeouts, events, isOld));
}

type PruneTimeouts = SessionLimits & Pick<Timeouts, 'commandTimeoutMs' | 'transactionTimeoutMs'>;

/**
 * Deletes the rows of a table that meet a condition.
 *
 * @param table its name, with ` AS alias` if the condition uses one
 */
async function deleteOld(
  transactions: MysqlTransactions<unknown>,
  timeouts: PruneTimeouts,
  table: string,
  isOld: string,
): Promise<number> {
  const [name] = table.split(' AS ') as [string];
  let after: Key | undefined;
  for (let total = 0; ; ) {
    const batch = await transactions.run(async (connection) => {
      await connection.begin(timeouts, timeouts.commandTimeoutMs);
      const ask: Ask = (statement) => connection.ask(statement, timeouts.transactionTimeoutMs);
      const rows = await ask(selectOld(table, isOld, after));
      const keys = rows.map(toKey);
      if (keys.length > 0) await ask(deleteAll(name, keys));
      return { end: 'commit', result: keys, statements: [ASSERT_BEGUN] };
    });
    total += batch.length;
    after = batch.at(-1);
    if (after === undefined || batch.length < BATCH_SIZE) return total;
  }
}

interface Key {
  readonly reference: string;
  readonly key: string;
}

// Neither part contains a space.
function toKey(row: string): Key {
  const [reference, key] = row.split(' ') as [string, string];
  return { reference, key };
}

// STRAIGHT_JOIN fixes the order of the join: with a list of conditions, the server scans a small table completely, and
// waits for rows that another process has locked.
function deleteAll(table: string, keys: readonly Key[]): string {
  const old = keys.map(
    ({ reference, key }) => `SELECT ${literal(reference)} AS reference, ${literal(key)} AS name`,
  );
  return `DELETE event FROM (${old.join(' UNION ALL ')}) AS old
STRAIGHT_JOIN ${table} AS event ON payment_reference = CONVERT(old.reference USING ascii) COLLATE ascii_bin
  AND event_key = CONVERT(old.name USING ascii) COLLATE ascii_bin`;
}

// Locked rows are being pruned by another process, and skipped.
function selectOld(table: string, isOld: string, after: Key | undefined): string {
  const rest =
    after === undefined
      ? ''
      : ` AND (payment_reference > ${literal(after.reference)} OR (payment_reference = ${literal(after.reference)} AND event_key > ${literal(after.key)}))`;
  return `SELECT CONCAT(payment_reference, ' ', event_key) FROM ${table}
WHERE ${isOld}${rest}
ORDER BY payment_reference, event_key LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED`;
}
