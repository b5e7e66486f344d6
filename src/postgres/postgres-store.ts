import { resolveOptions } from '../protocol/options.js';
import type { CallbackStore } from '../store/callback-store.js';
import type { StoreOptions } from '../store/options.js';
import type { PaymentStore } from '../store/payment-store.js';
import {
  type ProvidedEngine,
  providedConnections,
} from '../store/providers/provided-connections.js';
import { isProvider, type TransactionProvider } from '../store/providers/provider.js';
import { schemaOf } from '../store/sql/schema.js';
import {
  type SchemaOptions,
  type ServerStoreOptions,
  type ServerTimeouts,
  schemaRules,
  serverStoreRules,
} from '../store/sql/server-options.js';
import { serverStore } from '../store/sql/server-store.js';
import type { Connections } from '../store/sql/transactions.js';
import { postgresDialect } from './dialect.js';
import { failures } from './failures.js';
import { assertOpen } from './merchants-transaction.js';
import { pgliteConnections } from './pglite-connections.js';
import {
  assertPool,
  isPglite,
  type PgDatabase,
  type PgliteLike,
  type PgPoolLike,
  type PgTx,
  type Queryable,
  type TransactionOf,
} from './pool.js';
import { poolConnections } from './pool-connections.js';
import { settingsInOne } from './settings.js';
import { setup } from './setup.js';

type WithClient = ServerStoreOptions & { readonly client: NonNullable<StoreOptions['client']> };

/**
 * A store in Postgres, for any number of processes (interface section 6).
 *
 * The change, the settling of its payment and everything that `work` writes through `tx` commit in one
 * transaction, so the effect of a change happens exactly once. Whatever `work` does elsewhere (an email,
 * another database, the pool instead of `tx`) is not rolled back and may happen again.
 *
 * `tx` is a client of the pool, in the store's transaction, which the store ends: if `work` sends COMMIT or ROLLBACK, it
 * has failed (`TRANSACTION_LOST`) and runs again. Set a SAVEPOINT before a statement that may fail, because an error
 * otherwise makes Postgres abort the whole transaction. A statement waits for a lock for at most `lockTimeoutMs`. Await
 * every query: if `work` returns while one is still running, the transaction is rolled back, and a query sent later is
 * refused. Session state (SET without LOCAL, `pg_advisory_lock`, LISTEN) stays on the connection when it returns to the
 * pool; use SET LOCAL and `pg_advisory_xact_lock`, and leave the role and the `search_path` as you found them.
 *
 * If `work` uses the pool instead of `tx`, and such work holds all connections, it waits for a connection that
 * becomes free only when `work` has ended. `transactionTimeoutMs` ends this deadlock.
 *
 * Concurrent callbacks for one order run one after another, across any number of processes; each waits for at most
 * `lockTimeoutMs`. If the connection is lost, the callback fails at once, without waiting for `work`: stop `work` when
 * its `signal` aborts, as a later delivery may run in the meantime.
 *
 * `record` writes through your `tx`: a client of the pool on which your transaction is open, or the `tx` of `work`.
 * Everything else runs on another connection, which is released before anything is sent. So do not call `create`
 * or `send` for a payment that one of your transactions has recorded but not yet committed.
 *
 * A PGlite is a single connection: all callbacks wait for each other, and `work` that uses the database
 * instead of `tx` waits for itself, without end.
 *
 * @example
 * ```ts
 * import { PaymentClient } from 'merchant-payments';
 * import { postgresStore } from 'merchant-payments/postgres';
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * // Emitted when an idle connection breaks; without a listener, it ends the process.
 * pool.on('error', ({ message }) => console.error(message));
 *
 * const store = postgresStore(pool, { client: PaymentClient.fromEnv() });
 * await store.setup();
 *
 * const stored = await store.create({
 *   merchantPaymentReference: 'order-1001',
 *   amount: 2500,
 *   currency: 'EUR',
 * });
 * if (stored.state === 'created') console.log(stored.payment?.referenceNumber);
 * ```
 *
 * @param database - a `Pool` of `pg` or a PGlite
 * @throws {InvalidOptionError} when `database` is neither, or an option is invalid or unknown
 */
export function postgresStore<Database extends PgPoolLike | PgliteLike>(
  database: Database,
  options: WithClient,
): PaymentStore<TransactionOf<Database>>;
/**
 * The same store in an ORM's transactions: `tx` is the ORM's own transaction object.
 *
 * The ORM owns the connection, so `tx` can do what the ORM allows: nested transactions are
 * the ORM's, and the store can't close a connection that does not answer. At a deadline the callback still
 * fails in time and the signal aborts.
 *
 * @example
 * ```ts
 * import { drizzle } from 'drizzle-orm/node-postgres';
 * import { fromDrizzle, postgresStore } from 'merchant-payments/postgres';
 *
 * const db = drizzle(process.env.DATABASE_URL ?? '');
 * const store = postgresStore(fromDrizzle(db));
 * await store.setup();
 * ```
 *
 * @param provider - the result of `fromDrizzle`, `fromKysely`, `fromKnex`, `fromPrisma`, `fromTypeOrm` or
 * `fromPostgresJs`
 * @throws {InvalidOptionError} when `provider` is not a provider, or an option is invalid or unknown
 */
export function postgresStore<Tx, Taken = Tx>(
  provider: TransactionProvider<Tx, Taken>,
  options: WithClient,
): PaymentStore<Tx, Taken>;
/** The same store, with an explicit type for `tx`. */
export function postgresStore<Tx extends Queryable>(
  database: PgPoolLike<Tx> | PgliteLike<Tx>,
  options: WithClient,
): PaymentStore<Tx>;
/**
 * The same store, of any of these, for callbacks alone.
 *
 * @throws {InvalidOptionError} when `database` is neither, or an option is invalid or unknown
 */
export function postgresStore<Database>(
  // Last, and for everything: what a compiler says of a mistake is one line about this.
  database: PgDatabase<Database>,
  options?: ServerStoreOptions,
): Required<CallbackStore<PgTx<Database>>>;
export function postgresStore(
  database: PgPoolLike | PgliteLike | TransactionProvider<Queryable>,
  options: ServerStoreOptions = {},
): Required<CallbackStore<Queryable>> {
  assertPool(database);
  const resolved = resolveOptions(options, serverStoreRules);
  const dialect = postgresDialect(resolved.prefix);
  const connections = connect(database, resolved);
  return serverStore(
    {
      connections,
      dialect,
      failures,
      setup: () => setup(connections, dialect),
    },
    resolved,
  );
}

const ENGINE: ProvidedEngine = {
  failures,
  settings: settingsInOne,
  atMost: (_, lock) => lock,
  assertOpen,
};

function connect(
  database: PgPoolLike | PgliteLike | TransactionProvider<Queryable>,
  timeouts: ServerTimeouts,
): Connections<Queryable> {
  if (isProvider<Queryable>(database)) return providedConnections(database, timeouts, ENGINE);
  return isPglite(database) ? pgliteConnections(database) : poolConnections(database, timeouts);
}

/**
 * Returns the SQL that creates the tables of a `postgresStore`, for migrations that run under another role than the
 * application's. Existing tables are kept. With the default prefix, it is the content of `postgres/schema.sql`.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function postgresSchema(options: SchemaOptions = {}): string {
  const { prefix } = resolveOptions(options, schemaRules);
  const statements = schemaOf(postgresDialect(prefix)).map(({ create }) => create);
  return `${statements.join(';\n\n')};\n`;
}
