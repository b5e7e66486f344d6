import { makeProvider, type TransactionProvider } from './provider.js';
import type { WorkEnd } from './work-view.js';

/** A Kysely instance. */
export interface KyselyLike<Tx, Taken = Tx> {
  /** Runs a function in a transaction. */
  transaction(): {
    /** Runs `body` in it. */
    execute(body: (tx: Taken) => Promise<void>): Promise<unknown>;
  };
  /** Begins a transaction. */
  startTransaction(): {
    /** Begins it. */
    execute(): Promise<Tx>;
  };
}

interface Command<Result = unknown> {
  execute(): Promise<Result>;
}

/** The parts used of a Kysely instance. */
interface Kysely<Tx> {
  connection(): { execute(body: (db: Kysely<Tx>) => Promise<void>): Promise<unknown> };
  startTransaction(): { setIsolationLevel(level: string): Command<Tx & Controlled> };
}

interface Controlled {
  commit(): Command;
  rollback(): Command;
}

interface Executing {
  executeQuery(query: object): Promise<{ rows: readonly object[] }>;
}

const WANTED = {
  orm: 'Kysely',
  by: 'fromKysely',
  option: 'db',
  expected: 'a Kysely instance of version 0.28 or later',
  methods: ['startTransaction', 'connection', 'executeQuery', 'selectFrom'],
  isTransaction: (value: unknown) => (value as { isTransaction?: unknown }).isTransaction === true,
};

/**
 * Makes a store use the transactions of Kysely. `tx` is Kysely's own `ControlledTransaction`, which is a `Transaction` with
 * savepoints: `tx.savepoint('name').execute()`. Do not call its `commit()` or `rollback()`. `record` accepts any
 * `Transaction`, such as that of `db.transaction()`.
 *
 * With a pool of pg, listen for connections that break while a transaction is open. Kysely does not, and Node then ends the
 * process: `pool.on('connect', (client) => client.on('error', console.error))`.
 *
 * @param db - a Kysely instance of version 0.28 or later
 * @throws {InvalidOptionError} when `db` is not a Kysely instance, or is a transaction
 */
export function fromKysely<Tx, Taken = Tx>(
  db: KyselyLike<Tx, Taken>,
): TransactionProvider<Tx, Taken> {
  return makeProvider<Tx, Taken>(db, WANTED, {
    // Inside connection(), which always releases the connection; startTransaction() alone would leak it when the
    // transaction can't be ended.
    transaction: (body) =>
      (db as unknown as Kysely<Tx>).connection().execute(async (connection) => {
        const builder = connection.startTransaction().setIsolationLevel('read committed');
        const tx = await builder.execute();
        try {
          await body(tx);
          await tx.commit().execute();
        } catch (error) {
          const rolling = async () => tx.rollback().execute();
          // The first error matters more.
          await rolling().catch(() => undefined);
          throw error;
        }
      }),
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

/** The equivalent of Kysely's `CompiledQuery.raw`. */
function compiled(sql: string): object {
  return {
    sql,
    parameters: [],
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: 'merchant-payments' },
  };
}
