import { hasMethods, makeProvider, refuse, rowsOf, type TransactionProvider } from './provider.js';
import type { WorkEnd } from './work-view.js';

/** A Drizzle database. */
export interface DrizzleLike<Tx> {
  /** Runs `body` in a transaction. */
  transaction(body: (tx: Tx) => Promise<void>, config?: object): Promise<unknown>;
  /** Runs a statement. */
  execute(query: string): PromiseLike<unknown>;
}

const WANTED = {
  orm: 'Drizzle',
  by: 'fromDrizzle',
  option: 'db',
  expected: 'a Drizzle database, as returned by drizzle(pool)',
  methods: ['transaction', 'execute', 'select', 'insert'],
  isTransaction: (value: unknown) => hasMethods(value, ['execute', 'rollback']),
};

/**
 * Makes a store use the transactions of a Drizzle database, over node-postgres, postgres.js, PGlite, Neon's pool, mysql2, or
 * any other driver that has transactions. `tx` is Drizzle's own; a `tx.transaction()` in it is a savepoint.
 *
 * @param db - the result of `drizzle(pool)`
 * @throws {InvalidOptionError} when `db` is not a Drizzle database, is a transaction, or uses a single client
 */
export function fromDrizzle<Tx>(db: DrizzleLike<Tx>): TransactionProvider<Tx> {
  const { $client: client } = Object(db) as { $client?: unknown };
  // On a single client, two concurrent callbacks would share a transaction.
  if (hasMethods(client, ['connect', 'escapeIdentifier'])) {
    refuse(WANTED, 'one on a single client; make it on a pool: drizzle(new pg.Pool({ … }))');
  }
  if (hasMethods(client, ['beginTransaction', 'query'])) {
    refuse(WANTED, 'one on a single connection; make it on a pool: mysql.createPool(…)');
  }
  return makeProvider<Tx>(db, WANTED, {
    ...begunOn(db, client),
    query: async (on, text) => rowsOf(await (on as Pick<typeof db, 'execute'>).execute(text)),
    connectionOf: (tx) => sessionOf(tx)?.client,
    forWork: (tx, end) => onSession(tx as DrizzleTransaction, end) as Tx,
  });
}

const CONFIG = { isolationLevel: 'read committed', accessMode: 'read write' } as const;

function begunOn<Tx>(db: DrizzleLike<Tx>, client: unknown) {
  const begin = (config?: object) => (body: (tx: Tx) => Promise<void>) =>
    db.transaction(body, config);
  if (!hasMethods(client, ['begin', 'unsafe'])) return { transaction: begin(CONFIG) };
  // With the configuration, Drizzle would send a statement on postgres.js whose failure makes that hang.
  const firstStatement = 'SET TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE';
  return { transaction: begin(), firstStatement };
}

interface DrizzleSession {
  readonly client?: object;
}

/** The parts used of Drizzle's transaction, whose session is in a different place for each engine. */
interface DrizzleTransaction {
  readonly _?: { readonly session?: DrizzleSession };
  readonly session?: DrizzleSession;
  /** The relational queries, which have a session of their own. */
  readonly query?: Readonly<Record<string, object>>;
}

function sessionOf(tx: unknown): DrizzleSession | undefined {
  const { _: inPostgres, session } = tx as DrizzleTransaction;
  return inPostgres?.session ?? session;
}

/** The same transaction, with a session whose client is a view, and so do nested ones. */
function onSession(tx: DrizzleTransaction, end: WorkEnd): DrizzleTransaction {
  const own = sessionOf(tx) as DrizzleSession;
  const session = derive(own, { client: end.viewOf(own.client as object) });
  const queries = Object.entries(tx.query ?? {}).map(([name, query]) => [
    name,
    derive(query, { session }),
  ]);
  const query = Object.fromEntries(queries);
  return derive(tx, { session, _: derive(tx._ ?? {}, { session }), query });
}

function derive<Value extends object>(from: Value, own: Record<string, unknown>): Value {
  return Object.assign(Object.create(from), own);
}
