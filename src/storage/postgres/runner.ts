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
import { release, takeConnection } from './pg-transactions.js';
import {
  hasOpenTransaction,
  type PgClientLike,
  type PgliteLike,
  type PgPoolLike,
  type Queryable,
  statusOf,
} from './pool.js';
import { changedAnswer } from './transactions.js';

interface Answer {
  readonly rows: readonly Row[];
  /** How many rows were changed, by pg. */
  readonly rowCount?: unknown;
  /** The same, by PGlite. */
  readonly affectedRows?: unknown;
}

type Results = Answer | readonly Answer[];

/** A {@link Runner} that also reports whether a statement changed a row. */
export interface PostgresRunner<Tx> extends Runner<Tx> {
  /**
   * Runs a single INSERT or UPDATE without RETURNING: to parse a row, a driver takes as long as for
   * everything else.
   *
   * @returns whether it has changed a row; undefined if the pool hides that
   * @throws like `run`
   */
  change(statement: string): Promise<boolean | undefined>;
}

/** A runner on connections of a pool. */
export function pgRunner<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, createTimeout }: RunnerOptions,
): PostgresRunner<Tx> {
  // Only one promise besides the driver's, for speed: an outbox awaits it twice per payment.
  const send = <Value>(sql: string, read: (results: Results) => Value): Promise<Value> =>
    new Promise((resolve, reject) => {
      let client: PgClientLike | undefined;
      let timer: NodeJS.Timeout | undefined;
      let lost: Error | undefined;
      const end = (): void => {
        clearTimeout(timer);
        const taken = client;
        client = undefined;
        if (taken !== undefined) release(taken, lose, lost);
      };
      const lose = (error: Error): void => {
        lost ??= error;
        fail(error);
      };
      const fail = (error: unknown): void => {
        reject(error);
        // Not an answer from Postgres: the next answer on this connection may belong to this statement.
        if (sqlStateOf(error) === undefined || spoilsConnection(error)) lost ??= toError(error);
        try {
          end();
        } catch {
          // Other code has already released the client. The first error is the one to report.
        }
      };
      const ask = (taken: Tx & PgClientLike): Promise<void> | void => {
        client = taken;
        if (lost !== undefined) return end();
        if (hasOpenTransaction(taken)) throw new TransactionOpen();
        timer = setTimeout(() => lose(createTimeout(commandTimeoutMs)), commandTimeoutMs);
        return taken.query<Row>(sql).then((results) => {
          end();
          resolve(read(results));
        });
      };
      takeConnection(pool, acquireTimeoutMs, lose).then(ask).catch(fail);
    });
  return {
    run: (statement) => send(statement, rowsOf),
    // Sent as one message, they run in one transaction.
    runAll: (statements) => send(statements.join(';\n'), rowsOf),
    change: (statement) => send(statement, hasChanged),
    runIn,
    refusesEnded: (tx) => statusOf(tx) !== undefined,
  };
}

/** A runner on PGlite, which runs in the same process. */
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

/** A runner on a provider. */
export function providedRunner<Tx>(
  provider: TransactionProvider<Tx>,
  options: RunnerOptions,
): PostgresRunner<Tx> {
  const runner = runnerOfProvider(provider, options, databaseErrorOf);
  // An ORM returns only rows.
  const change = async (statement: string) =>
    (await runner.runAll([`${statement} RETURNING 'changed'`])).length > 0;
  return { ...runner, change };
}

async function runIn(tx: Queryable, statement: string): Promise<readonly Row[]> {
  assertTransaction(tx);
  return send(tx, statement);
}

async function send(on: Queryable, statement: string): Promise<readonly Row[]> {
  return (await on.query<Row>(statement)).rows;
}

/** In a transaction that other code forgot to end, the statement could be rolled back with it. */
function rowsOf(results: Results): readonly Row[] {
  // For several statements, pg returns a list.
  const last = Array.isArray(results) ? results.at(-1) : results;
  // Read as an empty result, it would hide a payment.
  if (last?.rows === undefined) throw changedAnswer();
  return last.rows;
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
