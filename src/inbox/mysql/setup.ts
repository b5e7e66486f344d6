import { date } from '../../protocol/options.js';
import { errnoOf, isMissingTable } from '../../storage/mysql/failures.js';
import { literal } from '../../storage/mysql/literal.js';
import type { MysqlTransactions } from '../../storage/mysql/mysql-transactions.js';
import { ASSERT_BEGUN, COMMIT, ROLLBACK, type SessionLimits } from '../../storage/mysql/session.js';
import type { QuotedTables, Timeouts } from './options.js';
import { createProcedures, createTables } from './schema.js';
import { isUnprocessed, LOCKS } from './statements.js';

type Ask = (statement: string) => Promise<readonly string[]>;

/** Makes the tables and procedures that do not exist. */
export function setup(
  transactions: MysqlTransactions<unknown>,
  tables: QuotedTables,
  { transactionTimeoutMs }: Pick<Timeouts, 'transactionTimeoutMs'>,
): Promise<void> {
  return transactions.run(async (connection) => {
    // One deadline for all of it: a statement may wait for that of another process, which does the same.
    const ask: Ask = (statement) => connection.ask(statement, transactionTimeoutMs);
    try {
      await makeTables(ask, tables);
      await makeProcedures(ask, tables);
    } finally {
      // Without autocommit, what was asked has begun one.
      await ask(ROLLBACK);
    }
    return { end: 'nothing', result: undefined };
  });
}

/** Whatever the session's defaults are. */
async function make(ask: Ask, statement: string): Promise<void> {
  for (const each of [ROLLBACK, 'SET TRANSACTION READ WRITE', statement, COMMIT]) await ask(each);
}

async function makeTables(ask: Ask, tables: QuotedTables): Promise<void> {
  const create = createTables(tables);
  // Asked first: a user without the right to create may not even say it.
  const look = `SELECT CONCAT(payment_reference, event_key, occurred_at_us, latest_us, processed_at_us) FROM ${tables.events} LIMIT 0`;
  if ((await unlessMissing(ask(look))) === undefined) await make(ask, create.events);
  const lookAtFailures = `SELECT CONCAT(payment_reference, event_key, full_names, occurred_at_us, attempts, first_failed_at_us, last_failed_at_us, parked, error, HEX(raw_body)) FROM ${tables.failures} LIMIT 0`;
  if ((await unlessMissing(ask(lookAtFailures))) === undefined) await make(ask, create.failures);
  const count = `SELECT CAST(COUNT(holder) AS CHAR) FROM ${tables.locks}`;
  const counted = await unlessMissing(ask(count));
  if (counted === undefined) await make(ask, create.locks);
  if (counted?.[0] !== String(LOCKS)) await make(ask, create.fill);
  // Says so where the table is one of another version.
  for (const one of [look, lookAtFailures]) await ask(one);
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

// Without them the same is done by more messages, so a user who may not make them does without.
async function makeProcedures(ask: Ask, tables: QuotedTables): Promise<void> {
  for (const [name, { create }] of Object.entries(createProcedures(tables))) {
    const [found] = await ask(countProcedures(tables[name as 'claim' | 'record']));
    if (found === '1') continue;
    await make(ask, create).catch((error) => {
      if (errnoOf(error) !== ALREADY_EXISTS && !DENIED.includes(errnoOf(error))) throw error;
    });
  }
}

function countProcedures(procedure: string): string {
  const [name = '', database] = procedure.replaceAll('`', '').split('.').reverse();
  const schema = database === undefined ? 'DATABASE()' : `'${database}'`;
  return `SELECT CAST(COUNT(*) AS CHAR) FROM information_schema.routines
WHERE routine_schema = ${schema} AND routine_name = '${name}' AND routine_type = 'PROCEDURE'`;
}

// A callback for one of a batch's payments waits until the batch is deleted.
const BATCH_SIZE = 200;

/**
 * Deletes what was last touched before `olderThan`, and gives the number of events and of failed changes.
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
  // Failures first: one of a processed change is known by its event, and goes at any age.
  const isOldFailure = `(last_failed_at_us < ${olderThanUs} OR NOT ${isUnprocessed(events)})`;
  const forgotten = await deleteOld(transactions, timeouts, `${failures} AS failure`, isOldFailure);
  const isOld = `processed_at_us < ${olderThanUs}`;
  return forgotten + (await deleteOld(transactions, timeouts, events, isOld));
}

type PruneTimeouts = SessionLimits & Pick<Timeouts, 'commandTimeoutMs' | 'transactionTimeoutMs'>;

/** Deletes the rows of a table, given by its name and an alias if it has one, that meet a condition. */
async function deleteOld(
  transactions: MysqlTransactions<unknown>,
  timeouts: PruneTimeouts,
  table: string,
  isOld: string,
): Promise<number> {
  const [name = table] = table.split(' AS ');
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

// Neither has a blank.
function toKey(row: string): Key {
  const [reference = '', key = ''] = row.split(' ');
  return { reference, key };
}

// Joined in this order: by a list of conditions a small table is read as a whole, which waits for the rows of
// another process.
function deleteAll(table: string, keys: readonly Key[]): string {
  const old = keys.map(
    ({ reference, key }) => `SELECT ${literal(reference)} AS reference, ${literal(key)} AS name`,
  );
  return `DELETE event FROM (${old.join(' UNION ALL ')}) AS old
STRAIGHT_JOIN ${table} AS event ON payment_reference = CONVERT(old.reference USING ascii) COLLATE ascii_bin
  AND event_key = CONVERT(old.name USING ascii) COLLATE ascii_bin`;
}

// What is locked is pruned by another process, and left out.
function selectOld(table: string, isOld: string, after: Key | undefined): string {
  const rest =
    after === undefined
      ? ''
      : ` AND (payment_reference > ${literal(after.reference)} OR (payment_reference = ${literal(after.reference)} AND event_key > ${literal(after.key)}))`;
  return `SELECT CONCAT(payment_reference, ' ', event_key) FROM ${table}
WHERE ${isOld}${rest}
ORDER BY payment_reference, event_key LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED`;
}
