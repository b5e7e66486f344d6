import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { hasMethods } from '../store/providers/provider.js';
import type { Ask } from '../store/sql/transactions.js';
import { databaseErrorOf, failures, sqlStateOf } from './failures.js';
import { type Queryable, statusOf } from './pool.js';

/**
 * Runs statements in the merchant's transaction.
 *
 * @throws {InvalidOptionError} when `tx` has no open transaction, and a write would commit on its own
 */
export async function runInTransaction<Tx extends Queryable, Value>(
  tx: Tx,
  body: (ask: Ask) => Promise<Value>,
): Promise<Value> {
  assertTransaction(tx);
  const ask: Ask = async (statement) => failures.textsOf((await tx.query<object>(statement)).rows);
  // Without a status, as of an older pg: fails outside a transaction.
  if (statusOf(tx) === undefined) await assertOpen(ask);
  return body(ask);
}

const NO_TRANSACTION = '25P01';

/** @throws {InvalidOptionError} when the transaction has ended, or there was none */
export async function assertOpen(ask: Ask): Promise<void> {
  try {
    await ask('SAVEPOINT merchant_payments_step');
    await ask('RELEASE SAVEPOINT merchant_payments_step');
  } catch (error) {
    if (sqlStateOf(databaseErrorOf(error)) !== NO_TRANSACTION) throw error;
    throw new InvalidOptionError(
      'tx',
      'tx must be an open transaction; received one that has ended',
    );
  }
}

function assertTransaction(tx: unknown): void {
  const other = otherThanTransaction(tx);
  if (other === undefined) return;
  throw new InvalidOptionError(
    'tx',
    `tx must be a client of the pool with your transaction open, or the tx of the store; received ${other}`,
  );
}

/** Names what is mistaken for a transaction, and on which a write would commit on its own. */
function otherThanTransaction(tx: unknown): string | undefined {
  if (!hasMethods(tx, ['query'])) return `${describeValue(tx)} without query()`;
  // Methods that a client has and a pool lacks.
  const isClient = hasMethods(tx, ['release']) || hasMethods(tx, ['escapeIdentifier']);
  if (hasMethods(tx, ['connect']) && !isClient) return 'a pool';
  if (hasMethods(tx, ['exec', 'transaction'])) return 'a PGlite';
  return statusOf(tx as object) === 'I' ? 'a client without a transaction' : undefined;
}
