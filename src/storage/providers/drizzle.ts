import {
  hasMethods,
  makeProvider,
  refuse,
  refuseKind,
  rowsOf,
  type TransactionProvider,
} from './provider.js';

/** A Drizzle database. */
export interface DrizzleLike<Tx> {
  /** Runs `body` in a transaction. */
  transaction(
    body: (tx: Tx) => Promise<void>,
    config?: {
      /** What a statement sees of other transactions. */
      isolationLevel: 'read committed';
      /** Whether it may write. */
      accessMode: 'read write';
    },
  ): Promise<unknown>;
  /** Runs a statement. */
  execute(query: string): PromiseLike<unknown>;
}

const WANTED = {
  by: 'fromDrizzle',
  option: 'db',
  expected: 'a Drizzle database, as drizzle(pool) gives it',
};

/**
 * The transactions of a Drizzle database, for `postgresInbox` and `postgresOutbox`: over node-postgres,
 * postgres.js, PGlite, Neon's pool, or any other driver of Drizzle that has transactions. `tx` is
 * Drizzle's own; a `tx.transaction()` in it is a savepoint.
 *
 * @param db - what `drizzle(pool)` gives
 * @throws {InvalidOptionError} when `db` is no Drizzle database, a transaction, or on a single client
 */
export function fromDrizzle<Tx>(db: DrizzleLike<Tx>): TransactionProvider<Tx> {
  if (!hasMethods(db, ['transaction', 'execute', 'select', 'insert'])) refuse(WANTED, db);
  if (hasMethods(db, ['rollback'])) refuseKind(WANTED, 'a transaction', 'pass the database itself');
  const client = (db as { $client?: unknown }).$client;
  // Two callbacks at once would be in one transaction.
  if (hasMethods(client, ['connect', 'escapeIdentifier'])) {
    refuseKind(WANTED, 'one on a single client', 'make it on a pool: drizzle(new pg.Pool({ … }))');
  }
  if (hasMethods(client, ['beginTransaction', 'query'])) {
    refuseKind(WANTED, 'one on a single connection', 'make it on a pool: mysql.createPool(…)');
  }
  return makeProvider<Tx>({
    orm: 'Drizzle',
    engine: engineOf(db),
    database: db,
    isSingle: hasMethods(client, ['transaction', 'query', 'exec']),
    // postgres.js.
    rejectsOnLoss: hasMethods(client, ['begin', 'unsafe']),
    transaction: (body) =>
      db.transaction(body, { isolationLevel: 'read committed', accessMode: 'read write' }),
    isTransaction: (value) => hasMethods(value, ['execute', 'rollback']),
    query: async (on, text) => rowsOf(await (on as Pick<typeof db, 'execute'>).execute(text)),
    connectionOf: (tx) => {
      const { _: inPostgres, session } = tx as DrizzleTransaction;
      return (inPostgres?.session ?? session)?.client;
    },
  });
}

interface DrizzleSession {
  readonly client?: unknown;
}

/** What is used of Drizzle's own transaction, which keeps its session in another place in each engine. */
interface DrizzleTransaction {
  readonly _?: { readonly session?: DrizzleSession };
  readonly session?: DrizzleSession;
}

// How Drizzle itself tells its classes apart.
const KIND = Symbol.for('drizzle:entityKind');
const ENGINES = new Map<unknown, string>([
  ['PgDatabase', 'postgres'],
  ['MySqlDatabase', 'mysql'],
  ['BaseSQLiteDatabase', 'sqlite'],
]);

function engineOf(db: object): string | undefined {
  for (let proto: object | null = db; proto !== null; proto = Object.getPrototypeOf(proto)) {
    const engine = ENGINES.get((proto.constructor as { [KIND]?: unknown })[KIND]);
    if (engine !== undefined) return engine;
  }
  return undefined;
}
