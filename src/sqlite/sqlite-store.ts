import {
  clock,
  matching,
  type OptionRules,
  optional,
  resolveOptions,
  text,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import type { CallbackStore } from '../store/callback-store.js';
import { assertRecorded } from '../store/errors.js';
import { type StoreOptions, storeRules } from '../store/options.js';
import { createStore, PaymentEngine } from '../store/payment-engine.js';
import type { PaymentStore, RecordContext } from '../store/payment-store.js';
import { ChangeStatements } from '../store/sql/change-statements.js';
import type { Dialect } from '../store/sql/dialect.js';
import { sqliteTablePrefix } from '../store/sql/server-options.js';
import { Sql } from '../store/sql/sql.js';
import { SqlBackend } from '../store/sql/sql-backend.js';
import { Claims } from './claims.js';
import { assertDatabase, type SqliteDatabase } from './database.js';
import { findMissing, sqliteDialect } from './dialect.js';
import { type ProcessingFile, processUnderLease } from './lease-process.js';
import { SqliteSession } from './session.js';

/** Options of {@link sqliteStore}. */
export interface SqliteStoreOptions extends StoreOptions {
  /**
   * The prefix of the tables (`payments`, `changes`, `failed_changes`, `second_payments`, `claims`) and their indexes: 1 to
   * 40 ASCII letters, digits and underscores, starting neither with a digit nor with `sqlite_`.
   * @default 'payment_store_'
   */
  prefix?: string | undefined;
  /**
   * After how many milliseconds a process that has stopped answering counts as dead: its order is then no longer
   * `busy`, and a payment that it was sending becomes `unresolved`. While a callback's work runs, the lease is renewed.
   * A call that sends a payment may take at most half of it, whatever its `timeoutMs`. A whole number from 100 to
   * 2_147_483_647.
   * @default 30_000 for callbacks; for a payment, the call's timeoutMs plus 10 s
   */
  leaseMs?: number | undefined;
  /**
   * The longest time for which the lease of a callback is renewed, in milliseconds. Work that takes longer counts as
   * hung: its signal aborts, and the lease expires within `leaseMs`. A whole number from 1.
   * @default 600_000
   */
  renewForMs?: number | undefined;
  /**
   * The clock, in epoch milliseconds. Processes that share the file must share the clock.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

const DEFAULT_LEASE_MS = 30_000;

type WithClient = SqliteStoreOptions & { readonly client: NonNullable<StoreOptions['client']> };

const rules = {
  ...storeRules,
  prefix: withDefault('payment_store_', sqliteTablePrefix),
  renewForMs: withDefault(600_000, wholeNumber({ min: 1, unit: 'milliseconds' })),
  now: clock,
} satisfies OptionRules<SqliteStoreOptions>;

interface SyncRecordContext extends Omit<RecordContext<never>, 'tx'> {
  /** Records at once, in the transaction that is open on the connection. */
  sync: true;
}

/** A store in SQLite, with a client: the `tx` of `record` is the database, with its transaction open, or undefined. */
type SqliteStore = PaymentStore<undefined, SqliteDatabase | undefined> & {
  /**
   * Records at once, and throws its errors: for a transaction that is one function, as with better-sqlite3's
   * `database.transaction(() => …)`. It writes no log line.
   *
   * @throws {InvalidOptionError} when no transaction is open
   */
  record(input: CreatePaymentInput, context: SyncRecordContext): void;
};

/**
 * A store in a SQLite file, for the processes of one machine: durable, and at least once (interface section 6). If a
 * process dies, its lease expires after `leaseMs` and the next delivery runs the work again.
 *
 * The work runs outside any transaction of the store, so that its `tx` is undefined, and its writes are not rolled back
 * if recording the change fails. While a change of an order is being processed, every other callback for that order is
 * `busy`, unless it is a `duplicate`, and so is a callback that finds the file locked by another connection. At the end
 * of the work the store waits for the file, without blocking, until the lease expires; other steps wait for at most
 * 5 s. The connection's own busy timeout (better-sqlite3: 5 s) does block the process; it may be short.
 *
 * The connection may be the one that your code uses, as long as no transaction on it stays open across an `await`,
 * except that of `record`, and none when the work returns (`TRANSACTION_LOST`). An unfinished `iterate()` of
 * better-sqlite3 on the connection counts as a lock, and so does an open transaction with node:sqlite before Node 22.16.
 *
 * The store sets `PRAGMA synchronous = FULL` on the connection at its first write, unless that is OFF or EXTRA. With
 * NORMAL, which better-sqlite3 uses in WAL mode, a power cut loses payments that were sent and callbacks that were
 * acknowledged. It changes no other setting. WAL is recommended (`PRAGMA journal_mode = WAL`), because readers then
 * don't block the store.
 *
 * A step fails with `MISSING_TABLES` before `setup()`, with `STORE_TIMEOUT` when it could not run in time, and with
 * `STORE_FAILED` when SQLite refuses it: the file is read-only, the disk full, the database closed. Nothing was written
 * then.
 *
 * @param database - a `DatabaseSync` of node:sqlite or a `Database` of better-sqlite3; not closed by the store
 * @throws {InvalidOptionError} when the database or an option is invalid
 *
 * @example
 * ```ts
 * import Database from 'better-sqlite3';
 * import { PaymentClient } from 'merchant-payments';
 * import { sqliteStore } from 'merchant-payments/sqlite';
 *
 * const database = new Database('/var/lib/shop/shop.db');
 * database.pragma('journal_mode = WAL');
 * const store = sqliteStore(database, { client: PaymentClient.fromEnv() });
 * await store.setup();
 *
 * const input = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
 * database.transaction(() => {
 *   database.prepare('INSERT INTO orders VALUES (?)').run(input.merchantPaymentReference);
 *   store.record(input, { sync: true });
 * })();
 * await store.send(input.merchantPaymentReference);
 * ```
 */
export function sqliteStore(database: SqliteDatabase, options: WithClient): SqliteStore;
/**
 * The same store for callbacks alone.
 *
 * @throws {InvalidOptionError} when the database or an option is invalid
 */
export function sqliteStore(
  database: SqliteDatabase,
  options?: SqliteStoreOptions,
): Required<CallbackStore>;
export function sqliteStore(
  database: SqliteDatabase,
  options: SqliteStoreOptions = {},
): Required<CallbackStore> | SqliteStore {
  assertDatabase(database);
  const resolved = resolveOptions(options, rules);
  const { prefix, now, renewForMs, leaseMs = DEFAULT_LEASE_MS } = resolved;
  const dialect = sqliteDialect(prefix, now);
  const claims = new Claims(prefix, new Sql(dialect));
  const session = new SqliteSession(database, () => findMissing(dialect, claims));
  const statements = new ChangeStatements(dialect);
  const file = { session, statements, claims, leaseMs, renewForMs, now };
  const backend = new SqliteBackend(file, dialect);
  const store = createStore(backend, resolved);
  if (store instanceof PaymentEngine) return withSyncRecord(store, backend, session);
  // The work never gets the database.
  return store as Required<CallbackStore<never>> as Required<CallbackStore>;
}

class SqliteBackend extends SqlBackend<SqliteDatabase | undefined> {
  readonly #file: ProcessingFile;

  constructor(file: ProcessingFile, dialect: Dialect) {
    super({
      session: file.session,
      dialect,
      process: (change, work) => processUnderLease(file, change, work),
      // There is only one connection, so its open transaction is always the one used.
      needsTransaction: false,
    });
    this.#file = file;
  }

  override async prune(beforeMs: number): Promise<number> {
    const { session, claims, now } = this.#file;
    await session.run(() => claims.prune(Math.min(beforeMs, now())));
    return super.prune(beforeMs);
  }
}

const syncRules = {
  sync: matching<true>('true, or left out with tx in its place', (sync) => sync === true),
  // Validated later, as part of the payment.
  extraBody: (value: unknown) => value as Record<string, unknown> | undefined,
  replaces: optional(text),
} satisfies OptionRules<SyncRecordContext>;

function withSyncRecord(
  engine: PaymentEngine<SqliteDatabase | undefined>,
  backend: SqliteBackend,
  session: SqliteSession,
): SqliteStore {
  const { record } = engine;
  const recordNow = (input: CreatePaymentInput, context: SyncRecordContext): void => {
    const { extraBody, replaces } = resolveOptions(context, syncRules, { owner: 'context' });
    const recording = engine.toRecord(input, { extraBody, replaces });
    assertRecorded(
      recording,
      session.runNow(() => backend.recordStep(recording)),
    );
  };
  return Object.assign(engine, {
    record: (
      input: CreatePaymentInput,
      context: RecordContext<SqliteDatabase | undefined> | SyncRecordContext,
    ) => (isSync(context) ? recordNow(input, context) : record.call(engine, input, context)),
  }) as unknown as SqliteStore;
}

function isSync(
  context: RecordContext<SqliteDatabase | undefined> | SyncRecordContext,
): context is SyncRecordContext {
  return Object.hasOwn(Object(context), 'sync');
}
