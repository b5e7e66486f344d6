import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { toError } from '../loss.js';
import { hasMethods, type TransactionProvider } from '../providers/provider.js';
import {
  type Row,
  type Runner,
  type RunnerOptions,
  runnerOfProvider,
  TransactionOpen,
} from '../runner.js';
import { databaseErrorOf, spoilsConnection, sqlStateOf } from './failures.js';
import { giveBack, takeConnection } from './pg-transactions.js';
import type { PgClientLike, PgliteLike, PgPoolLike, Queryable } from './pool.js';

interface Answer {
  readonly rows: readonly Row[];
  /** How many rows were changed, by pg. */
  readonly rowCount?: unknown;
  /** The same by PGlite. */
  readonly affectedRows?: unknown;
}

type Results = Answer | readonly Answer[];

/** {@link Runner} with what Postgres says of a change besides. */
export interface PostgresRunner<Tx> extends Runner<Tx> {
  /**
   * Runs an INSERT or UPDATE by itself, without RETURNING: a driver takes a row apart in as much time as it
   * needs for the rest of its work.
   *
   * @returns whether it has changed a row; undefined where the pool hides that
   * @throws as `run` does
   */
  change(statement: string): Promise<boolean | undefined>;
}

/** On connections of a pool. */
export function pgRunner<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, createTimeout }: RunnerOptions,
): PostgresRunner<Tx> {
  // One promise beside the driver's: an outbox waits for it twice with each payment.
  const send = <Value>(sql: string, read: (results: Results) => Value): Promise<Value> =>
    new Promise((resolve, reject) => {
      let client: PgClientLike | undefined;
      let timer: NodeJS.Timeout | undefined;
      let lost: Error | undefined;
      const release = (): void => {
        clearTimeout(timer);
        const taken = client;
        client = undefined;
        if (taken !== undefined) giveBack(taken, lose, lost);
      };
      const lose = (error: Error): void => {
        lost ??= error;
        fail(error);
      };
      const fail = (error: unknown): void => {
        reject(error);
        // Not an answer of Postgres: there is no knowing what its next one will be to.
        if (sqlStateOf(error) === undefined || spoilsConnection(error)) lost ??= toError(error);
        try {
          release();
        } catch {
          // A client that somebody else has released. The error that is given is the first one.
        }
      };
      const ask = (taken: Tx & PgClientLike): Promise<void> | void => {
        client = taken;
        if (lost !== undefined) return release();
        assertNoTransaction(taken);
        timer = setTimeout(() => lose(createTimeout(commandTimeoutMs)), commandTimeoutMs);
        return taken.query<Row>(sql).then((results) => {
          release();
          resolve(read(results));
        });
      };
      takeConnection(pool, acquireTimeoutMs, lose).then(ask).catch(fail);
    });
  return {
    run: (statement) => send(statement, rowsOf),
    // In one message they are one transaction.
    runAll: (statements) => send(statements.join(';\n'), rowsOf),
    change: (statement) => send(statement, hasChanged),
    runIn,
    refusesEnded: (tx) => statusOf(tx) !== undefined,
  };
}

/** On PGlite, which shares the process. */
export function pgliteRunner<Tx extends Queryable>(database: PgliteLike<Tx>): PostgresRunner<Tx> {
  const asker = database as unknown as Queryable;
  return {
    run: (statement) => send(asker, statement),
    change: async (statement) => hasChanged(await asker.query<Row>(statement)),
    async runAll(statements) {
      return database.transaction(async (tx) => {
        let rows: readonly Row[] = [];
        for (const statement of statements) rows = (await tx.query<Row>(statement)).rows;
        return rows;
      });
    },
    runIn,
    refusesEnded: () => true,
  };
}

/** On what an ORM gives. */
export function providedRunner<Tx>(
  provider: TransactionProvider<Tx>,
  options: RunnerOptions,
): PostgresRunner<Tx> {
  const runner = runnerOfProvider(provider, options, databaseErrorOf);
  // Of an ORM there are rows alone.
  const change = async (statement: string) =>
    (await runner.run(`${statement} RETURNING 'changed'`)).length > 0;
  return { ...runner, change };
}

async function runIn(tx: Queryable, statement: string): Promise<readonly Row[]> {
  assertTransaction(tx);
  return send(tx, statement);
}

async function send(on: Queryable, statement: string): Promise<readonly Row[]> {
  return (await on.query<Row>(statement)).rows;
}

/** In a transaction that somebody forgot to end, the statement would be undone with it. */
function assertNoTransaction(client: object): void {
  const status = statusOf(client);
  if (status === 'T' || status === 'E') throw new TransactionOpen();
}

/** Undefined from an older pg, and from PGlite. */
function statusOf(client: object): unknown {
  const { getTransactionStatus } = client as { getTransactionStatus?(): unknown };
  return getTransactionStatus?.call(client);
}

function rowsOf(results: Results): readonly Row[] {
  // For several statements pg gives a list.
  const last = Array.isArray(results) ? results.at(-1) : results;
  return last?.rows ?? [];
}

function hasChanged(results: Results): boolean | undefined {
  const { rowCount, affectedRows = rowCount } = results as Answer;
  return typeof affectedRows === 'number' ? affectedRows > 0 : undefined;
}

function assertTransaction(tx: unknown): void {
  const other = OTHERS.find(({ fits }) => fits(tx));
  if (other === undefined) return;
  throw new InvalidOptionError(
    'tx',
    `tx must be a client of the pool with your transaction open, or the tx of an inbox of the same pool; received ${other.name(tx)}`,
  );
}

// What a pool lacks.
const OF_CLIENTS = ['release', 'escapeIdentifier'];

/** What is given in place of a transaction, on which a write would stand alone. */
const OTHERS: readonly { fits(tx: unknown): boolean; name(tx: unknown): string }[] = [
  {
    fits: (tx) => !hasMethods(tx, ['query']),
    name: (tx) => `${describeValue(tx)} without query()`,
  },
  {
    fits: (tx) => hasMethods(tx, ['connect']) && !OF_CLIENTS.some((name) => hasMethods(tx, [name])),
    name: () => 'a pool',
  },
  { fits: (tx) => hasMethods(tx, ['exec', 'transaction']), name: () => 'a PGlite' },
  { fits: (tx) => statusOf(tx as object) === 'I', name: () => 'a client without a transaction' },
];
