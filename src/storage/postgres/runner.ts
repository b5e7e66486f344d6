import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { invalidOption, LONGEST_TIMER_MS } from '../../protocol/options.js';
import type { TransactionProvider } from '../providers/provider.js';
import { databaseErrorOf, sqlStateOf } from './failures.js';
import { giveBack, Loss, takeConnection, toError } from './pg-transactions.js';
import type { PgliteLike, PgPoolLike, Queryable } from './pool.js';
import type { Row } from './transactions.js';

/** Runs statements that are transactions of their own: what pg's pool and PGlite are reduced to. */
export interface Runner<Tx> {
  /**
   * Runs one statement by itself.
   *
   * @throws the driver's error, or that of a deadline; whether the statement was run is then not known
   */
  run(statement: string): Promise<readonly Row[]>;
  /** Runs several in one transaction. */
  runAll(statements: readonly string[]): Promise<void>;
  /** Runs one statement in somebody's transaction. */
  runIn(tx: Tx, statement: string): Promise<readonly Row[]>;
}

interface RunnerOptions {
  readonly acquireTimeoutMs: number;
  readonly commandTimeoutMs: number;
  /** The error for a statement that was not answered in time. */
  readonly createTimeout: (timeoutMs: number) => Error;
}

type Results = { rows: readonly Row[] } | readonly { rows: readonly Row[] }[];

/** On connections of a pool. */
export function pgRunner<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, createTimeout }: RunnerOptions,
): Runner<Tx> {
  const send = async (sql: string): Promise<Results> => {
    const loss = new Loss();
    const onError = (error: Error) => loss.report(error);
    const client = await takeConnection(pool, acquireTimeoutMs, onError);
    const timer = setTimeout(() => loss.report(createTimeout(commandTimeoutMs)), commandTimeoutMs);
    try {
      assertNoTransaction(client);
      return await loss.orSettled<Results>(client.query<Row>(sql));
    } catch (error) {
      // Not an answer of Postgres: there is no knowing what its next one will be to.
      if (sqlStateOf(error) === undefined) loss.report(toError(error));
      throw error;
    } finally {
      clearTimeout(timer);
      giveBack(client, onError, loss.reason);
    }
  };
  return {
    run: async (statement) => rowsOf(await send(statement)),
    // In one message they are one transaction.
    runAll: async (statements) => void (await send(statements.join(';\n'))),
    runIn,
  };
}

/** On PGlite, which shares the process. */
export function pgliteRunner<Tx extends Queryable>(database: PgliteLike<Tx>): Runner<Tx> {
  const run = (statement: string) => runIn(database as unknown as Queryable, statement);
  return {
    run,
    async runAll(statements) {
      await database.transaction(async (tx) => {
        for (const statement of statements) await tx.query(statement);
      });
    },
    runIn,
  };
}

/** On what an ORM gives, which keeps to deadlines of its own besides. */
export function providedRunner<Tx>(
  provider: TransactionProvider<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, createTimeout }: RunnerOptions,
): Runner<Tx> {
  const timeoutMs = Math.min(acquireTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS);
  const inTime = async <Value>(running: Promise<Value>): Promise<Value> => {
    const loss = new Loss();
    const timer = setTimeout(() => loss.report(createTimeout(timeoutMs)), timeoutMs);
    return loss.orSettled(running).finally(() => clearTimeout(timer));
  };
  const explained = (error: unknown): never => {
    throw databaseErrorOf(error);
  };
  return {
    run: (statement) => inTime(provider.query(provider.database, statement)).catch(explained),
    async runAll(statements) {
      const all = async (tx: Tx): Promise<void> => {
        for (const statement of statements) await provider.query(tx, statement);
      };
      const limits = { acquireTimeoutMs, transactionTimeoutMs: commandTimeoutMs };
      await inTime(provider.transaction(all, limits)).catch(explained);
    },
    async runIn(tx, statement) {
      if (!provider.isTransaction(tx ?? {})) {
        const expected = `a transaction of ${provider.orm}, as its own function or an inbox on it gives it`;
        throw invalidOption('tx', expected, tx);
      }
      return provider.query(tx, statement);
    },
  };
}

async function runIn(tx: Queryable, statement: string): Promise<readonly Row[]> {
  assertTransaction(tx);
  return (await tx.query<Row>(statement)).rows;
}

/** In a transaction that somebody forgot to end, the statement would be undone with it. */
function assertNoTransaction(client: object): void {
  // An older pg does not tell.
  const { getTransactionStatus } = client as { getTransactionStatus?(): unknown };
  const status = getTransactionStatus?.call(client);
  if (status !== 'T' && status !== 'E') return;
  throw new TransactionOpen();
}

/** A connection was released with its transaction open. */
export class TransactionOpen extends Error {
  constructor() {
    super(
      'The pool gave a connection on which a transaction is open, so it was closed: end each transaction before you release its client, also when it fails',
    );
  }
}

function rowsOf(results: Results): readonly Row[] {
  // For several statements pg gives a list.
  const last = Array.isArray(results) ? results.at(-1) : results;
  return last?.rows ?? [];
}

function assertTransaction(tx: unknown): void {
  if (typeof (tx as Partial<Queryable>).query === 'function') return;
  throw new InvalidOptionError(
    'tx',
    `tx must be a client of the pool with your transaction open, or the tx of an inbox of the same pool; received ${describeValue(tx)} without query()`,
  );
}
