import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { hasMethods } from '../store/providers/provider.js';
import type { Ask } from '../store/sql/transactions.js';
import { listOf } from './answers.js';
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
  const ask: Ask = async (statement) =>
    failures.textsOf(listOf(await tx.query(statement))[0]?.rows);
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
  const other = OTHERS.find(({ fits }) => fits(tx));
  if (other === undefined) return;
  throw new InvalidOptionError(
    'tx',
    `tx must be a client of the pool with your transaction open, or the tx of the store; received ${other.name(tx)}`,
  );
}

// Methods that a client has and a pool lacks.
const CLIENT_METHODS = ['release', 'escapeIdentifier'];

/** Objects mistaken for a transaction, on which a write would commit on its own. */
const OTHERS: readonly { fits(tx: unknown): boolean; name(tx: unknown): string }[] = [
  {
    fits: (tx) => !hasMethods(tx, ['query']),
    name: (tx) => `${describeValue(tx)} without query()`,
  },
  {
    fits: (tx) =>
      hasMethods(tx, ['connect']) && !CLIENT_METHODS.some((name) => hasMethods(tx, [name])),
    name: () => 'a pool',
  },
  { fits: (tx) => hasMethods(tx, ['exec', 'transaction']), name: () => 'a PGlite' },
  { fits: (tx) => statusOf(tx as object) === 'I', name: () => 'a client without a transaction' },
];
