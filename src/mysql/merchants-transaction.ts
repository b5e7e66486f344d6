import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { hasMethods } from '../store/providers/provider.js';
import type { Ask } from '../store/sql/transactions.js';
import {
  databaseErrorOf,
  errnoOf,
  failures,
  IN_TRANSACTION,
  NO_SAVEPOINT,
  UNSUPPORTED_IN_PREPARED,
  withoutStatement,
} from './failures.js';
import type { MysqlQueryable } from './pool.js';
import { asRows, send, statusOf } from './rows.js';
import { READ_COMMITTED } from './session.js';

/**
 * Runs statements in the merchant's transaction.
 *
 * @throws {InvalidOptionError} when `tx` has no open transaction, and a write would commit on its own
 */
export async function runInTransaction<Tx extends MysqlQueryable, Value>(
  tx: Tx,
  body: (ask: Ask) => Promise<Value>,
): Promise<Value> {
  await assertTransaction(tx);
  const ask: Ask = async (statement) => {
    try {
      return failures.textsOf(asRows(await send(tx, statement)));
    } catch (error) {
      // The driver's error contains the statement, and so the request body.
      throw withoutStatement(error);
    }
  };
  return body(ask);
}

async function assertTransaction(tx: unknown): Promise<void> {
  // A pool has query() too, whose writes commit on their own.
  const isConnection =
    hasMethods(tx, ['query', 'beginTransaction']) && !hasMethods(tx, ['promise']);
  if (!isConnection) throw invalidTx(describeValue(tx));
  const answer = await send(tx as MysqlQueryable, 'DO 0');
  const { isInTransaction, isAutocommit } = statusOf(answer) ?? {};
  // With autocommit off, the first statement begins a transaction.
  if (!isInTransaction && isAutocommit !== false) throw invalidTx('one without a transaction');
}

function invalidTx(received: string): InvalidOptionError {
  return new InvalidOptionError(
    'tx',
    `tx must be a connection of the pool of mysql2/promise with your transaction open, or the tx of the store; received ${received}`,
  );
}

/**
 * After a deadlock, the server has rolled back and runs each further statement in its own transaction, which no
 * ORM notices; some do not even notice the end of their own transactions. A savepoint exists only while the
 * transaction does.
 */
export async function assertOpen(ask: Ask): Promise<void> {
  try {
    await ask('SAVEPOINT merchant_payments_step');
    await ask('RELEASE SAVEPOINT merchant_payments_step');
  } catch (error) {
    const errno = errnoOf(databaseErrorOf(error));
    // SAVEPOINT can't be prepared. But the isolation level can't be set in a transaction, which shows that one is open.
    if (errno === UNSUPPORTED_IN_PREPARED && (await isRefusedInTransaction(ask))) return;
    if (errno !== NO_SAVEPOINT && errno !== UNSUPPORTED_IN_PREPARED) throw error;
    throw new InvalidOptionError(
      'tx',
      'tx must be an open transaction; received one that has ended, for example by a deadlock: let that error through, and run the transaction again',
    );
  }
}

async function isRefusedInTransaction(ask: Ask): Promise<boolean> {
  try {
    await ask(READ_COMMITTED);
    return false;
  } catch (error) {
    if (errnoOf(databaseErrorOf(error)) === IN_TRANSACTION) return true;
    throw error;
  }
}
