import { resolveOptions } from '../protocol/options.js';
import { Engine } from '../store/engine.js';
import { logOperations } from '../store/operation-log.js';
import type { PaymentOutbox } from '../store/outbox.js';
import { isProvider, type TransactionProvider } from '../store/providers/provider.js';
import { markDatabase } from '../store/shared-database.js';
import { SqlStore } from '../store/sql/sql-store.js';
import { Statements } from '../store/sql/statements.js';
import { mysqlDialect } from './outbox-dialect.js';
import { noStepInTime } from './outbox-failures.js';
import { type MysqlOutboxOptions, mysqlOutboxRules, quoteTables } from './outbox-options.js';
import { MysqlSession } from './outbox-session.js';
import {
  assertPool,
  type MysqlPoolLike,
  type MysqlQueryable,
  type MysqlTransactionOf,
} from './pool.js';
import { mysqlRunner, providedRunner } from './runner.js';

/** An outbox in MySQL or MariaDB. */
export interface MysqlOutbox<Tx = MysqlQueryable> extends PaymentOutbox<Tx> {
  /**
   * Creates missing tables. Any number of processes may call it at the same time. If the tables exist,
   * it changes nothing and needs no right to create. If the application may not create them, let a
   * migration run `mysqlOutboxSchema()`, or `merchant-payments/outbox/mysql/schema.sql`.
   *
   * @throws {StoreError} `STORE_TIMEOUT`, `STORE_FAILED`
   */
  setup(): Promise<void>;
}

/**
 * An outbox in MySQL 8.0 or MariaDB 10.6, or later, for any number of processes.
 *
 * `record` and `settle` write through your `tx`: a connection of the pool on which your
 * transaction is open, or the `tx` of a `mysqlInbox` on the same pool. Everything else is a short transaction on
 * a separate connection, which is released before anything is sent. So do not call `create` or `send` for a
 * payment that one of your transactions has recorded but not yet committed.
 *
 * @example
 * ```ts
 * import { PaymentClient } from 'merchant-payments';
 * import { mysqlOutbox } from 'merchant-payments/outbox/mysql';
 * import mysql from 'mysql2/promise';
 *
 * const pool = mysql.createPool(process.env.MYSQL_URL ?? '');
 * const outbox = mysqlOutbox(pool, { client: PaymentClient.fromEnv() });
 * await outbox.setup();
 *
 * const { state, payment } = await outbox.create({
 *   merchantPaymentReference: 'order-1001',
 *   amount: 2500,
 *   currency: 'EUR',
 * });
 * console.log(state, payment?.referenceNumber);
 * ```
 *
 * @param pool - a `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function mysqlOutbox<Pool extends MysqlPoolLike>(
  pool: Pool,
  options: MysqlOutboxOptions,
): MysqlOutbox<MysqlTransactionOf<Pool>>;
/**
 * The same outbox, with an explicit type for `tx`.
 *
 * @param pool - a `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function mysqlOutbox<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  options: MysqlOutboxOptions,
): MysqlOutbox<Tx>;
/**
 * The same outbox with an ORM: `tx` is the ORM's own transaction object.
 *
 * @param provider - the result of `fromDrizzle`, `fromKysely`, `fromKnex`, `fromPrisma` or `fromTypeOrm`
 * @throws {InvalidOptionError} when `provider` is not a provider, or an option is invalid or unknown
 */
export function mysqlOutbox<Tx>(
  provider: TransactionProvider<Tx>,
  options: MysqlOutboxOptions,
): MysqlOutbox<Tx>;
export function mysqlOutbox(
  pool: MysqlPoolLike | TransactionProvider<MysqlQueryable>,
  options: MysqlOutboxOptions,
): MysqlOutbox {
  assertPool(pool);
  const { client, leaseMs, logger, logReferences, prefix, ...timeouts } = resolveOptions(
    options,
    mysqlOutboxRules,
    { holds: 'client' },
  );
  const limits = { ...timeouts, createTimeout: noStepInTime };
  const runner = isProvider(pool) ? providedRunner(pool, limits) : mysqlRunner(pool, limits);
  const session = new MysqlSession(runner);
  const statements = new Statements(mysqlDialect(quoteTables(prefix)));
  const store = new SqlStore(session, statements);
  const engine = new Engine(store, { client, leaseMs });
  logOperations(engine, { logger, logReferences });
  const outbox = Object.assign(engine, {
    setup: () => session.setup(statements),
  });
  return markDatabase(outbox, isProvider(pool) ? pool.database : pool);
}
