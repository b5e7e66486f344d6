import { resolveOptions } from '../protocol/options.js';
import {
  assertPool,
  isPglite,
  type PgliteLike,
  type PgPoolLike,
  type Queryable,
  type TransactionOf,
} from './pool.js';
import {
  type PostgresRunner,
  pgliteRunner,
  pgRunner,
  providedRunner,
} from './runner.js';
import { isProvider, type TransactionProvider } from '../store/providers/provider.js';
import { markDatabase } from '../store/shared-database.js';
import { Engine } from '../store/engine.js';
import { logOperations } from '../store/operation-log.js';
import type { PaymentOutbox } from '../store/outbox.js';
import { SqlStore } from '../store/sql/sql-store.js';
import { Statements } from '../store/sql/statements.js';
import { postgresDialect } from './outbox-dialect.js';
import {
  type PostgresOutboxOptions,
  postgresOutboxRules,
  quoteTables,
  type Timeouts,
} from './outbox-options.js';
import { noStepInTime, PostgresSession } from './outbox-session.js';

/** An outbox in Postgres. */
export interface PostgresOutbox<Tx = Queryable> extends PaymentOutbox<Tx> {
  /**
   * Creates missing tables and indexes. Any number of processes may call it at the same time. If everything exists,
   * it takes no locks and needs no right to create. If the application may not create them, let a migration run
   * `postgresOutboxSchema()`, or `merchant-payments/outbox/postgres/schema.sql`.
   *
   * @throws {StoreError} `STORE_TIMEOUT`, `STORE_FAILED`
   */
  setup(): Promise<void>;
}

/**
 * An outbox in Postgres, for any number of processes.
 *
 * `record` and `settle` write through your `tx`: a client of the pool on which your
 * transaction is open, or the `tx` of a `postgresInbox` on the same pool. Everything else is one statement on a
 * separate connection, which is released before anything is sent. So do not call `create` or `send` for a
 * payment that one of your transactions has recorded but not yet committed.
 *
 * @example
 * ```ts
 * import { PaymentClient } from 'merchant-payments';
 * import { postgresOutbox } from 'merchant-payments/outbox/postgres';
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * const outbox = postgresOutbox(pool, { client: PaymentClient.fromEnv() });
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
 * @param pool - a `Pool` of `pg` or a PGlite
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function postgresOutbox<Pool extends PgPoolLike | PgliteLike>(
  pool: Pool,
  options: PostgresOutboxOptions,
): PostgresOutbox<TransactionOf<Pool>>;
/**
 * The same outbox, with an explicit type for `tx`.
 *
 * @param pool - a `Pool` of `pg` or a PGlite
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function postgresOutbox<Tx extends Queryable>(
  pool: PgPoolLike<Tx> | PgliteLike<Tx>,
  options: PostgresOutboxOptions,
): PostgresOutbox<Tx>;
/**
 * The same outbox with an ORM: `tx` is the ORM's own transaction object.
 *
 * @param provider - the result of `fromDrizzle`, `fromKysely`, `fromKnex`, `fromPrisma`, `fromTypeOrm` or
 * `fromPostgresJs`
 * @throws {InvalidOptionError} when `provider` is not a provider, or an option is invalid or unknown
 */
export function postgresOutbox<Tx, Taken = Tx>(
  provider: TransactionProvider<Tx, Taken>,
  options: PostgresOutboxOptions,
): PostgresOutbox<Taken>;
export function postgresOutbox(
  pool: PgPoolLike | PgliteLike | TransactionProvider<Queryable>,
  options: PostgresOutboxOptions,
): PostgresOutbox {
  assertPool(pool);
  const { client, leaseMs, logger, logReferences, prefix, ...timeouts } = resolveOptions(
    options,
    postgresOutboxRules,
    { holds: 'client' },
  );
  const tables = quoteTables(prefix);
  const session = new PostgresSession(openRunner(pool, timeouts), tables);
  const store = new SqlStore(session, new Statements(postgresDialect(tables)));
  const engine = new Engine(store, { client, leaseMs });
  logOperations(engine, { logger, logReferences });
  const outbox = Object.assign(engine, {
    setup: () => session.setup(),
  });
  return markDatabase(outbox, isProvider(pool) ? pool.database : pool);
}

function openRunner(
  pool: PgPoolLike | PgliteLike | TransactionProvider<Queryable>,
  timeouts: Timeouts,
): PostgresRunner<Queryable> {
  const options = { ...timeouts, createTimeout: noStepInTime };
  if (isProvider(pool)) return providedRunner(pool, options);
  return isPglite(pool) ? pgliteRunner(pool) : pgRunner(pool, options);
}
