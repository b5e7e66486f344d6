import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import { Loss, toError } from '../store/loss.js';
import { hasMethods, type TransactionProvider } from '../store/providers/provider.js';
import {
  type Ask,
  type Row,
  type Runner,
  type RunnerOptions,
  runnerOfProvider,
  TransactionOpen,
} from '../store/sql/runner.js';
import { databaseErrorOf, spoilsConnection, sqlStateOf } from './failures.js';
import { BEGIN, release, takeConnection } from './pg-transactions.js';
import {
  hasOpenTransaction,
  type PgliteLike,
  type PgPoolLike,
  type Queryable,
  statusOf,
} from './pool.js';
import { changedAnswer, onlyText } from './transactions.js';

interface Answer {
  readonly rows: readonly Row[];
  /** How many rows were changed, by pg. */
  readonly rowCount?: unknown;
  /** The same, by PGlite. */
  readonly affectedRows?: unknown;
  readonly command?: string;
}

type Results = Answer | readonly Answer[];

/** A {@link Runner} that also reports whether a statement changed a row, and runs short transactions. */
export interface PostgresRunner<Tx> extends Runner<Tx> {
  /**
   * Runs a single INSERT or UPDATE without RETURNING: to parse a row, a driver takes as long as for
   * everything else.
   *
   * @returns whether it has changed a row; undefined if the pool hides that
   * @throws like `run`
   */
  change(statement: string): Promise<boolean | undefined>;
  /**
   * Runs `body` in one READ COMMITTED transaction, which is rolled back when it rejects.
   *
   * @param settings a SELECT to begin with, whose text shows that the pool returns what Postgres sends
   */
  runTogether<Value>(settings: string, body: (ask: Ask) => Promise<Value>): Promise<Value>;
}

/** A runner on connections of a pool. */
export function pgRunner<Tx extends Queryable>(
  pool: PgPoolLike<Tx>,
  { acquireTimeoutMs, commandTimeoutMs, createTimeout }: RunnerOptions,
): PostgresRunner<Tx> {
  const onConnection = async <Value>(use: (client: Tx) => Promise<Value>): Promise<Value> => {
    const loss = new Loss();
    const onError = (error: Error) => loss.report(error);
    const client = await takeConnection(pool, acquireTimeoutMs, onError);
    const timer = setTimeout(() => loss.report(createTimeout(commandTimeoutMs)), commandTimeoutMs);
    try {
      if (loss.reason !== undefined) throw loss.reason;
      if (hasOpenTransaction(client)) throw new TransactionOpen();
      const value = await loss.orSettled(use(client));
      clearTimeout(timer);
      release(client, onError);
      return value;
    } catch (error) {
      clearTimeout(timer);
      // Not an answer from Postgres: the next answer on this connection may belong to this statement.
      if (sqlStateOf(error) === undefined || spoilsConnection(error)) loss.report(toError(error));
      try {
        release(client, onError, loss.reason);
      } catch {
        // Other code has already released the client. The first error is the one to report.
      }
      throw error;
    }
  };
  const send = (statement: string) =>
    onConnection((client) => client.query<Row>(statement) as Promise<Results>);
  return {
    run: async (statement) => rowsOf(await send(statement)),
    // Sent as one message, they run in one transaction.
    runAll: async (statements) => rowsOf(await send(statements.join(';\n'))),
    change: async (statement) => hasChanged(await send(statement)),
    runTogether: (settings, body) => onConnection((client) => runOnClient(client, settings, body)),
    runIn,
    refusesEnded: (tx) => statusOf(tx) !== undefined,
  };
}

async function runOnClient<Value>(
  client: Queryable,
  settings: string,
  body: (ask: Ask) => Promise<Value>,
): Promise<Value> {
  onlyText(rowsOf(await client.query<Row>(`${BEGIN}; ${settings}`)));
  try {
    const value = await body((statement) => send(client, statement));
    const { command } = (await client.query('COMMIT')) as Partial<Answer>;
    // Postgres answers the COMMIT of an aborted transaction with ROLLBACK, and no error.
    if (command !== undefined && command !== 'COMMIT') throw changedAnswer();
    return value;
  } catch (error) {
    // Otherwise the connection is closed, which rolls back too.
    if (sqlStateOf(error) !== undefined) await client.query('ROLLBACK');
    throw error;
  }
}

/** A runner on PGlite, which runs in the same process. */
export function pgliteRunner<Tx extends Queryable>(database: PgliteLike<Tx>): PostgresRunner<Tx> {
  const asker = database as unknown as Queryable;
  const runTogether = <Value>(body: (ask: Ask) => Promise<Value>) =>
    database.transaction((tx) => body((statement) => send(tx, statement)));
  return {
    run: (statement) => send(asker, statement),
    change: async (statement) => hasChanged(await asker.query<Row>(statement)),
    runTogether: (settings, body) =>
      runTogether(async (ask) => {
        await ask(settings);
        return body(ask);
      }),
    runAll: (statements) => runTogether((ask) => lastOf(statements, ask)),
    runIn,
    refusesEnded: () => true,
  };
}

/** A runner on a provider. */
export function providedRunner<Tx>(
  provider: TransactionProvider<Tx>,
  options: RunnerOptions,
): PostgresRunner<Tx> {
  const { runTogether, ...runner } = runnerOfProvider(provider, options, databaseErrorOf);
  return {
    ...runner,
    // An ORM returns only rows.
    change: async (statement) =>
      (await runner.runAll([`${statement} RETURNING 'changed'`])).length > 0,
    runTogether: (settings, body) =>
      runTogether(async (ask) => {
        onlyText(await ask(settings));
        return body(ask);
      }),
  };
}

async function lastOf(statements: readonly string[], ask: Ask): Promise<readonly Row[]> {
  let rows: readonly Row[] = [];
  for (const statement of statements) rows = await ask(statement);
  return rows;
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
