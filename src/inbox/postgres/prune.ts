import { assertDate } from '../../protocol/assert-option.js';
import { onlyText } from './answer.js';
import { explainMissing } from './failures.js';
import type { Queryable } from './pool.js';
import type { QuotedTables } from './tables.js';
import { maintenanceSettings, type Transactions } from './transactions.js';

// A callback for one of a batch's payments waits until the batch is deleted.
const BATCH_SIZE = 1_000;

/**
 * Deletes what was last touched before `olderThan`, and gives the number of events.
 *
 * @throws {InvalidOptionError} when `olderThan` is not a valid Date
 */
export async function prune(
  transactions: Transactions<Queryable>,
  { lockTimeoutMs, commandTimeoutMs }: { lockTimeoutMs: number; commandTimeoutMs: number },
  { payments, events }: QuotedTables,
  olderThan: Date,
): Promise<number> {
  assertDate('olderThan', olderThan);
  const deleteAll = async (option: string, statement: string): Promise<number> => {
    for (let total = 0; ; ) {
      const deleted = await transactions.run(async (transaction) => {
        await transaction.begin(maintenanceSettings(lockTimeoutMs), commandTimeoutMs);
        const { rows } = await transaction.tx
          .query(statement, [olderThan.getTime() / 1000])
          .catch((error) => explainMissing(option, error));
        return { end: 'commit', result: Number(onlyText(rows)) };
      });
      total += deleted;
      if (deleted < BATCH_SIZE) return total;
    }
  };
  const count = await deleteAll(
    'eventsTable',
    batchStatement(events, 'payment_reference, key', 'processed_at'),
  );
  await deleteAll('paymentsTable', batchStatement(payments, 'payment_reference', 'changed_at'));
  return count;
}

// What is locked is being processed, or pruned by somebody else, and left out. Of a row that changed
// since this began, Postgres compares the new time.
function batchStatement(table: string, key: string, time: string): string {
  return `WITH old AS (
  SELECT ${key} FROM ${table} WHERE ${time} < to_timestamp($1)
  ORDER BY ${time} LIMIT ${BATCH_SIZE} FOR UPDATE SKIP LOCKED
), deleted AS (
  DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM old) RETURNING 1
)
SELECT count(*)::text FROM deleted`;
}
