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
  schemaRules,
  serverStoreRules,
} from '../store/sql/server-options.js';
import { serverStore } from '../store/sql/server-store.js';
import { mysqlDialect } from './dialect.js';
import { failures } from './failures.js';
import { assertOpen } from './merchants-transaction.js';
import {
  assertPool,
  type MysqlDatabase,
  type MysqlPoolLike,
  type MysqlQueryable,
  type MysqlTransactionOf,
  type MysqlTx,
} from './pool.js';
import { poolConnections } from './pool-connections.js';
import { atMost } from './session.js';
import { setup } from './setup.js';

type WithClient = ServerStoreOptions & { readonly client: NonNullable<StoreOptions['client']> };

/**
 * A store in MySQL 8.0 or MariaDB 10.6, or later, for any number of processes (interface section 6).
 *
 * The change, the settling of its payment and everything that `work` writes through `tx` commit in one
 * transaction, so the effect of a change happens exactly once. Whatever `work` does elsewhere (an email,
 * another database, the pool instead of `tx`) is not rolled back and may happen again.
 *
 * `tx` is a connection of the pool, in the store's transaction, which the store ends: if `work` sends COMMIT or ROLLBACK, or
 * a statement that commits implicitly, such as CREATE TABLE, it has failed (`TRANSACTION_LOST`) and runs again. Undo a part
 * by savepoints. After a deadlock, the server has rolled back everything: let the error through. Await every query.
 *
 * Concurrent callbacks for one order run one after another, across any number of processes. Each waits for at most
 * `lockTimeoutMs`. If the connection is lost, the callback fails at once, without waiting for `work`: stop `work` when its
 * `signal` aborts, as a later delivery may run in the meantime.
 *
 * `record` writes through your `tx`: a connection of the pool on which your transaction is open, or the `tx` of `work`.
 * Everything else runs on another connection, which is released before anything is sent. So do not call `create`
 * or `send` for a payment that one of your transactions has recorded but not yet committed.
 *
 * @example
 * ```ts
 * import { PaymentClient } from 'merchant-payments';
 * import { mysqlStore } from 'merchant-payments/mysql';
 * import mysql from 'mysql2/promise';
 *
 * const pool = mysql.createPool(process.env.MYSQL_URL ?? '');
 * const store = mysqlStore(pool, { client: PaymentClient.fromEnv() });
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
 * @param database - a `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`
 * @throws {InvalidOptionError} when `database` is neither, or an option is invalid or unknown
 */
export function mysqlStore<Database extends MysqlPoolLike>(
  database: Database,
  options: WithClient,
): PaymentStore<MysqlTransactionOf<Database>>;
/**
 * The same store with an ORM: `tx` is the ORM's own transaction object.
 *
 * @param provider - the result of `fromDrizzle`, `fromKysely`, `fromKnex`, `fromPrisma` or `fromTypeOrm`
 * @throws {InvalidOptionError} when `provider` is not a provider, or an option is invalid or unknown
 */
export function mysqlStore<Tx, Taken = Tx>(
  provider: TransactionProvider<Tx, Taken>,
  options: WithClient,
): PaymentStore<Tx, Taken>;
/** The same store, with an explicit type for `tx`. */
export function mysqlStore<Tx extends MysqlQueryable>(
  database: MysqlPoolLike<Tx>,
  options: WithClient,
): PaymentStore<Tx>;
/**
 * The same store, of any of these, for callbacks alone.
 *
 * @throws {InvalidOptionError} when `database` is neither, or an option is invalid or unknown
 */
export function mysqlStore<Database>(
  // Last, and for everything: what a compiler says of a mistake is one line about this.
  database: MysqlDatabase<Database>,
  options?: ServerStoreOptions,
): Required<CallbackStore<MysqlTx<Database>>>;
export function mysqlStore(
  database: MysqlPoolLike | TransactionProvider<MysqlQueryable>,
  options: ServerStoreOptions = {},
): Required<CallbackStore<MysqlQueryable>> {
  assertPool(database);
  const resolved = resolveOptions(options, serverStoreRules);
  const dialect = mysqlDialect(resolved.prefix);
  const connections = isProvider<MysqlQueryable>(database)
    ? providedConnections(database, resolved, ENGINE)
    : poolConnections(database, resolved);
  return serverStore(
    {
      connections,
      dialect,
      failures,
      setup: () => setup(connections, dialect, resolved),
    },
    resolved,
  );
}

// An ORM's transaction is at READ COMMITTED by itself.
const ENGINE: ProvidedEngine = { failures, settings: () => undefined, atMost, assertOpen };

/**
 * Returns the SQL that creates the tables of a `mysqlStore`, for migrations that run under another user than the
 * application's: statements to run in this order, without a final semicolon. Existing tables are kept. With the
 * default prefix, `mysql/schema.sql` has the same statements.
 *
 * @throws {InvalidOptionError} when `prefix` is invalid or an option is unknown
 */
export function mysqlSchema(options: SchemaOptions = {}): string[] {
  const { prefix } = resolveOptions(options, schemaRules);
  return schemaOf(mysqlDialect(prefix)).flatMap(({ isInTable, create }) =>
    isInTable ? [] : create,
  );
}
