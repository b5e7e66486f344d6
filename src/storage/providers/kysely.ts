import {
  hasMethods,
  makeProvider,
  refuse,
  refuseKind,
  type TransactionProvider,
} from './provider.js';

/** A Kysely. */
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

/** A transaction of Kysely that is to begin. */
export interface KyselyTransactionBuilder<Tx> {
  /** Sets what a statement sees of other transactions. */
  setIsolationLevel(level: 'read committed'): KyselyTransactionBuilder<Tx>;
  /** Begins it. */
  execute(): Promise<Tx>;
}

interface Command {
  execute(): Promise<unknown>;
}

interface Controlled {
  readonly isCommitted: boolean;
  readonly isRolledBack: boolean;
  commit(): Command;
  rollback(): Command;
}

interface Executing {
  executeQuery(query: object): Promise<{ rows: readonly object[] }>;
}

const WANTED = {
  by: 'fromKysely',
  option: 'db',
  expected: 'a Kysely of version 0.28 or later',
};

/**
 * The transactions of a Kysely, for `postgresInbox` and `postgresOutbox`. `tx` is Kysely's own
 * `ControlledTransaction`, which is a `Transaction` with savepoints: `tx.savepoint('name').execute()`. Do
 * not call its `commit()` or `rollback()`. An outbox takes any `Transaction`, as `db.transaction()` gives it.
 *
 * On a pool of pg, let the pool listen for connections that break while a transaction is open, as
 * Kysely does not, and Node ends the process: `pool.on('connect', (client) => client.on('error',
 * console.error))`.
 *
 * @param db - a Kysely of version 0.28 or later
 * @throws {InvalidOptionError} when `db` is none, or a transaction
 */
export function fromKysely<Tx, Taken = Tx>(
  db: KyselyLike<Tx, Taken>,
): TransactionProvider<Tx, Taken> {
  const methods = ['startTransaction', 'connection', 'executeQuery', 'selectFrom'];
  if (!hasMethods(db, methods)) refuse(WANTED, db);
  if ((db as { isTransaction?: unknown }).isTransaction === true) {
    refuseKind(WANTED, 'a transaction', 'pass the Kysely itself');
  }
  return makeProvider<Tx, Taken>({
    orm: 'Kysely',
    engine: engineOf(db),
    database: db,
    // On a connection that Kysely takes back in any case: a transaction alone keeps it when it can't be ended.
    transaction: (body) =>
      db.connection().execute(async (connection) => {
        const builder = connection.startTransaction().setIsolationLevel('read committed');
        const tx = await builder.execute();
        const { commit, rollback } = controlsOf(tx);
        try {
          await body(tx);
          await commit();
        } catch (error) {
          // What failed first matters more.
          await rollback().catch(() => undefined);
          throw error;
        }
      }),
    hasEnded: (tx) => {
      const { isCommitted, isRolledBack } = tx as Controlled;
      return isCommitted || isRolledBack;
    },
    isTransaction: (value) => (value as { isTransaction?: unknown }).isTransaction === true,
    query: async (on, text) => (await (on as Executing).executeQuery(compiled(text))).rows,
  });
}

function controlsOf(tx: unknown) {
  const controlled = tx as Controlled;
  return {
    commit: async () => void (await controlled.commit().execute()),
    rollback: async () => void (await controlled.rollback().execute()),
  };
}

/** What Kysely's `CompiledQuery.raw` makes. */
function compiled(sql: string): object {
  return {
    sql,
    parameters: [],
    query: { kind: 'RawNode', sqlFragments: [sql], parameters: [] },
    queryId: { queryId: 'merchant-payments' },
  };
}

// By the names of Kysely's own adapters. Another one, or a name that a bundler has changed, says nothing.
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
