import { sqlStateOf } from './failures.js';
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

async function runIn(tx: Queryable, statement: string): Promise<readonly Row[]> {
  return (await tx.query<Row>(statement)).rows;
}

function rowsOf(results: Results): readonly Row[] {
  // For several statements pg gives a list.
  const last = Array.isArray(results) ? results.at(-1) : results;
  return last?.rows ?? [];
}
