import {
  hasMethods,
  makeProvider,
  refuse,
  refuseKind,
  type TransactionProvider,
} from './provider.js';
import type { WorkEnd } from './work-view.js';

/** A Kysely instance. */
export interface KyselyLike<Tx, Taken = Tx> {
  /** Takes a connection. */
  connection(): {
    /** Runs `body` on it. */
    execute(body: (db: KyselyLike<Tx, Taken>) => Promise<void>): Promise<unknown>;
  };
  /** Runs a function in a transaction. */
  transaction(): {
    /** Runs `body` in it. */
    execute(body: (tx: Taken) => Promise<void>): Promise<unknown>;
  };
  /** Begins a transaction. */
  startTransaction(): KyselyTransactionBuilder<Tx>;
}

/** Kysely's builder of a transaction. */
export interface KyselyTransactionBuilder<Tx> {
  /** Sets the isolation level. */
  setIsolationLevel(level: 'read committed'): KyselyTransactionBuilder<Tx>;
  /** Begins it. */
  execute(): Promise<Tx>;
}

interface Command {
  execute(): Promise<unknown>;
}

interface Controlled {
  commit(): Command;
  rollback(): Command;
}

interface Executing {
  executeQuery(query: object): Promise<{ rows: readonly object[] }>;
}

const WANTED = {
  by: 'fromKysely',
  option: 'db',
  expected: 'a Kysely instance of version 0.28 or later',
};

/**
 * Makes a store use the transactions of Kysely. `tx` is Kysely's own
 * `ControlledTransaction`, which is a `Transaction` with savepoints: `tx.savepoint('name').execute()`. Do
 * not call its `commit()` or `rollback()`. `record` accepts any `Transaction`, such as that of `db.transaction()`.
 *
 * With a pool of pg, listen for connections that break while a transaction is open. Kysely does
 * not, and Node then ends the process: `pool.on('connect', (client) => client.on('error',
 * console.error))`.
 *
 * @param db - a Kysely instance of version 0.28 or later
 * @throws {InvalidOptionError} when `db` is not a Kysely instance, or is a transaction
 */
export function fromKysely<Tx, Taken = Tx>(
  db: KyselyLike<Tx, Taken>,
): TransactionProvider<Tx, Taken> {
  const methods = ['startTransaction', 'connection', 'executeQuery', 'selectFrom'];
  if (!hasMethods(db, methods)) refuse(WANTED, db);
  if ((db as { isTransaction?: unknown }).isTransaction === true) {
    refuseKind(WANTED, 'a transaction', 'pass the Kysely instance itself');
  }
  return makeProvider<Tx, Taken>({
    orm: 'Kysely',
    engine: engineOf(db),
    database: db,
    // Inside connection(), which always releases the connection; startTransaction() alone would leak it when the
    // transaction can't be ended.
    transaction: (body) =>
      db.connection().execute(async (connection) => {
        const builder = connection.startTransaction().setIsolationLevel('read committed');
        const tx = await builder.execute();
        const { commit, rollback } = controlsOf(tx);
        try {
          await body(tx);
          await commit();
        } catch (error) {
          // The first error matters more.
          await rollback().catch(() => undefined);
          throw error;
        }
      }),
    isTransaction: (value) => (value as { isTransaction?: unknown }).isTransaction === true,
    query: async (on, text) => (await (on as Executing).executeQuery(compiled(text))).rows,
    forWork: (tx, end) => onExecutor(tx as KyselyTransaction, end) as Tx,
  });
}

type Consumer = (connection: object) => Promise<unknown>;

/** The parts used of Kysely's executor. */
interface Executor {
  provideConnection(consumer: Consumer): Promise<unknown>;
  withConnectionProvider(provider: Pick<Executor, 'provideConnection'>): Executor;
  withPlugin?(plugin: object): Executor;
}

interface KyselyTransaction {
  getExecutor(): Executor;
  withPlugin(plugin: object): KyselyTransaction;
}

/** The same transaction, on a view of its connection. */
function onExecutor(tx: KyselyTransaction, end: WorkEnd): KyselyTransaction {
  const executor = tx.getExecutor();
  const ofWork = executor.withConnectionProvider({
    // Counted from here: the query is sent later, once Kysely has the connection.
    provideConnection: async (consumer) =>
      end.run(() => executor.provideConnection((connection) => consumer(end.viewOf(connection)))),
  });
  // Nothing else makes a transaction with another executor.
  executor.withPlugin = () => ofWork;
  try {
    return tx.withPlugin({});
  } finally {
    delete executor.withPlugin;
  }
}

function controlsOf(tx: unknown) {
  const controlled = tx as Controlled;
  return {
    commit: async () => void (await controlled.commit().execute()),
    rollback: async () => void (await controlled.rollback().execute()),
  };
}

/** The equivalent of Kysely's `CompiledQuery.raw`. */
function compiled(sql: string): object {
  return {
    sql,
    parameters: [],
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: 'merchant-payments' },
  };
}

// By the class names of Kysely's own adapters. For other adapters, or minified names, the engine stays unknown.
const ENGINES = new Map([
  ['PostgresAdapter', 'postgres'],
  ['MysqlAdapter', 'mysql'],
  ['SqliteAdapter', 'sqlite'],
  ['MssqlAdapter', 'mssql'],
]);

function engineOf(db: object): string | undefined {
  const { getExecutor } = db as { getExecutor?(): { readonly adapter?: object } };
  return ENGINES.get(getExecutor?.call(db).adapter?.constructor.name ?? '');
}
