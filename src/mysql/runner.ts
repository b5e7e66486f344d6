import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { Loss, toError } from '../store/loss.js';
import { hasMethods, type TransactionProvider } from '../store/providers/provider.js';
import {
  type Ask,
  type RunnerOptions,
  runnerOfProvider,
  TransactionOpen,
} from '../store/sql/runner.js';
import {
  databaseErrorOf,
  errnoOf,
  losesConnection,
  NO_SAVEPOINT,
  READ_ONLY_TRANSACTION,
  spoilsConnection,
  UNSUPPORTED_IN_PREPARED,
  withoutStatement,
} from './failures.js';
import { releaseOrDestroy, serverClosed, takeConnection } from './mysql-transactions.js';
import type { MysqlPoolLike, MysqlQueryable } from './pool.js';
import { asRows, changedAnswer, send, statusOf, textsOf } from './rows.js';
import { COMMIT, READ_COMMITTED, ROLLBACK, START } from './session.js';

type Send = Ask<unknown>;
/** Runs one statement. Resolves with the text in each row. */
export type AskForTexts = Ask<readonly string[]>;

/** Runs single statements and short transactions: the common interface of pools and ORMs. */
export interface MysqlRunner<Tx> {
  /**
   * Runs a single statement.
   *
   * @throws the driver's error, or that of a deadline; whether the statement was run is then unknown
   */
  run(statement: string): Promise<readonly string[]>;
  /**
   * Runs a single INSERT or UPDATE.
   *
   * @param statement returns it, given the driver's thread id of the session
   * @returns whether it has changed a row; undefined, with nothing changed, if the pool's sessions have autocommit off
   * or are read-only, or if the pool hides the session's status
   * @throws like `run`
   */
  readonly change?: (statement: (session: number) => string) => Promise<boolean | undefined>;
  /** Runs `body` in one transaction at READ COMMITTED, which is rolled back when it rejects. */
  runTogether<Value>(body: (ask: AskForTexts) => Promise<Value>): Promise<Value>;
  /**
   * Runs `body` in the given transaction.
   *
   * @throws {InvalidOptionError} when `tx` has no open transaction
   */
  runIn<Value>(tx: Tx, body: (ask: AskForTexts) => Promise<Value>): Promise<Value>;
}

/** A runner on connections of a pool. */
export function mysqlRunner<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, createTimeout }: RunnerOptions,
): MysqlRunner<Tx> {
  let hasStatus: boolean | undefined;
  const onConnection = async <Value>(
    body: (send: Send, connection: Tx) => Promise<Value>,
  ): Promise<Value> => {
    const loss = new Loss();
    const onLost = (error?: Error) => loss.report(error ?? serverClosed());
    const connection = await takeConnection(pool, acquireTimeoutMs, onLost);
    const timer = setTimeout(() => loss.report(createTimeout(commandTimeoutMs)), commandTimeoutMs);
    try {
      return await loss.orSettled(body((sql) => sendScrubbed(connection, sql), connection));
    } catch (error) {
      // The connection's next answer may belong to this statement, or will be the same error.
      if (losesConnection(error) || spoilsConnection(error)) loss.report(toError(error));
      throw error;
    } finally {
      clearTimeout(timer);
      releaseOrDestroy(connection, onLost, loss.reason !== undefined);
    }
  };
  return {
    run: (statement) => onConnection((ask) => runAlone(ask, statement)),
    change: (statement) =>
      onConnection(async (ask, connection) => {
        // Checked once, in advance: after a committed change it would be too late.
        hasStatus ??= statusOf(await ask('DO 0')) !== undefined;
        return hasStatus ? changeAlone(ask, statement(sessionOf(connection))) : undefined;
      }),
    runTogether: (body) => onConnection((ask) => runTogether(ask, body)),
    runIn,
  };
}

/** A runner on a provider. */
export function providedRunner<Tx>(
  provider: TransactionProvider<Tx>,
  options: RunnerOptions,
): MysqlRunner<Tx> {
  const { run, runTogether, runIn } = runnerOfProvider(provider, options, databaseErrorOf);
  return {
    run: forTexts(run),
    runTogether: (body) => runTogether((ask) => body(forTexts(ask))),
    async runIn(tx, body) {
      const ask = forTexts((statement) => runIn(tx, statement));
      await assertOpen(ask, provider.orm);
      return body(ask);
    },
  };
}

/**
 * After a deadlock, the server has rolled back and runs each further statement in its own transaction, which no
 * ORM notices; some do not even notice the end of their own transactions. A savepoint exists only while the
 * transaction does.
 */
async function assertOpen(ask: AskForTexts, orm: string): Promise<void> {
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
      `tx must be an open transaction of ${orm}; received one that has ended, for example by a deadlock: let that error through, and run the transaction again`,
    );
  }
}

async function isRefusedInTransaction(ask: AskForTexts): Promise<boolean> {
  try {
    await ask(READ_COMMITTED);
    return false;
  } catch (error) {
    if (errnoOf(databaseErrorOf(error)) === IN_TRANSACTION) return true;
    throw error;
  }
}

function forTexts(ask: Ask): AskForTexts {
  return async (statement) => textsOf(await ask(statement));
}

function forTextsOf(ask: Send): AskForTexts {
  return forTexts(async (statement) => asRows(await ask(statement)));
}

async function sendScrubbed(connection: MysqlQueryable, sql: string): Promise<unknown> {
  try {
    return await send(connection, sql);
  } catch (error) {
    // The driver's error contains the statement, and so the request body.
    throw withoutStatement(error);
  }
}

/** In a transaction that other code forgot to end, the statement could be rolled back with it. */
async function runAlone(ask: Send, statement: string): Promise<readonly string[]> {
  // Only an answer without rows has the status. A read is checked in advance, because it might use an old snapshot.
  const isRead = /^\s*SELECT\b/i.test(statement);
  const before = isRead ? statusOf(await ask('DO 0')) : undefined;
  if (before?.isInTransaction) throw new TransactionOpen();
  const answer = await ask(statement);
  const status = before ?? statusOf(answer);
  if (status !== undefined && !status.isAutocommit) await ask(COMMIT);
  else if (status?.isInTransaction) throw new TransactionOpen();
  return textsOf(asRows(answer));
}

/** NaN if a wrapper of the pool hides it. */
function sessionOf(connection: object): number {
  return Number((connection as { readonly threadId?: unknown }).threadId);
}

async function changeAlone(ask: Send, statement: string): Promise<boolean | undefined> {
  let answer: unknown;
  try {
    answer = await ask(statement);
  } catch (error) {
    // With autocommit off, the statement has begun a transaction.
    if (!losesConnection(error)) await ask(ROLLBACK);
    if (errnoOf(error) === READ_ONLY_TRANSACTION) return undefined;
    throw error;
  }
  const { isAutocommit, isInTransaction } = statusOf(answer) ?? {};
  const { affectedRows } = (answer ?? {}) as { affectedRows?: unknown };
  if (isAutocommit === undefined || typeof affectedRows !== 'number') throw changedAnswer();
  if (!isAutocommit) {
    await ask(ROLLBACK);
    return undefined;
  }
  // This closes the connection, which rolls back the statement and the transaction that other code forgot to end.
  if (isInTransaction) throw new TransactionOpen();
  return affectedRows > 0;
}

// ER_CANT_CHANGE_TX_CHARACTERISTICS.
const IN_TRANSACTION = 1568;

async function runTogether<Value>(
  ask: Send,
  body: (ask: AskForTexts) => Promise<Value>,
): Promise<Value> {
  // START TRANSACTION would commit a transaction that other code forgot to end.
  await ask(READ_COMMITTED).catch((error) => {
    throw errnoOf(error) === IN_TRANSACTION ? new TransactionOpen() : error;
  });
  try {
    await ask(START);
    const value = await body(forTextsOf(ask));
    await ask(COMMIT);
    return value;
  } catch (error) {
    if (!losesConnection(error)) await ask(ROLLBACK);
    throw error;
  }
}

async function runIn<Tx extends MysqlQueryable, Value>(
  tx: Tx,
  body: (ask: AskForTexts) => Promise<Value>,
): Promise<Value> {
  const ask: Send = (statement) => sendScrubbed(tx, statement);
  await assertTransaction(tx, ask);
  return body(forTextsOf(ask));
}

async function assertTransaction(tx: unknown, ask: Send): Promise<void> {
  // A pool has query() too, whose writes commit on their own.
  const isConnection =
    hasMethods(tx, ['query', 'beginTransaction']) && !hasMethods(tx, ['promise']);
  if (!isConnection) throw invalidTx(describeValue(tx));
  const { isInTransaction, isAutocommit } = statusOf(await ask('DO 0')) ?? {};
  // With autocommit off, the first statement begins a transaction.
  if (!isInTransaction && isAutocommit !== false) throw invalidTx('one without a transaction');
}

function invalidTx(received: string): InvalidOptionError {
  return new InvalidOptionError(
    'tx',
    `tx must be a connection of the pool of mysql2/promise with your transaction open, or the tx of an inbox of the same pool; received ${received}`,
  );
}
