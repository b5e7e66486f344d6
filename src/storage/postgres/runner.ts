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
  /** @throws {InvalidOptionError} when `tx` can be no transaction to run in */
  assertTransaction(tx: unknown): void;
}

/** How long may be waited, in milliseconds. */
export interface RunnerOptions {
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
    assertTransaction: assertQueryable,
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
    assertTransaction: assertQueryable,
  };
}

/** On what an ORM has. A statement that is not answered in time may still run: the connection is the ORM's. */
export function providedRunner<Tx>(
  provider: TransactionProvider<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, createTimeout }: RunnerOptions,
): Runner<Tx> {
  const query = async (on: Tx | object, statement: string): Promise<readonly Row[]> => {
    try {
      return await provider.query(on, statement);
    } catch (error) {
      throw databaseErrorOf(error);
    }
  };
  const inTime = <Result>(running: Promise<Result>): Promise<Result> => {
    const loss = new Loss();
    // The ORM does not say when it has a connection.
    const report = () => loss.report(createTimeout(commandTimeoutMs));
    const timer = setTimeout(
      report,
      Math.min(acquireTimeoutMs + commandTimeoutMs, LONGEST_TIMER_MS),
    );
    return loss.orSettled(running).finally(() => clearTimeout(timer));
  };
  return {
    run: (statement) => inTime(query(provider.database, statement)),
    async runAll(statements) {
      const limits = { acquireTimeoutMs, transactionTimeoutMs: commandTimeoutMs };
      const running = provider.transaction(async (tx) => {
        for (const statement of statements) await query(tx, statement);
      }, limits);
      await inTime(Promise.resolve(running)).catch((error) => {
        throw databaseErrorOf(error);
      });
    },
    runIn: query,
    assertTransaction(tx) {
      if (provider.isTransaction(tx ?? {})) return;
      const expected = `a transaction of ${provider.orm}, as its transaction function or an inbox gives it`;
      throw invalidOption('tx', expected, tx);
    },
  };
}

function assertQueryable(tx: unknown): void {
  if (typeof (tx as Partial<Queryable>).query === 'function') return;
  throw new InvalidOptionError(
    'tx',
    `tx must be a client of the outbox's pool with your transaction open, or the tx of an inbox; received ${describeValue(tx)} without query()`,
  );
}

async function runIn(tx: Queryable, statement: string): Promise<readonly Row[]> {
  return (await tx.query<Row>(statement)).rows;
}

function rowsOf(results: Results): readonly Row[] {
  // For several statements pg gives a list.
  const last = Array.isArray(results) ? results.at(-1) : results;
  return last?.rows ?? [];
}
