import { clock, type OptionRules, resolveOptions, withDefault } from '../protocol/options.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import { assertSame, Engine } from '../store/engine.js';
import { logOperations } from '../store/operation-log.js';
import { logRules, type OutboxOptions, outboxRules } from '../store/options.js';
import type { PaymentOutbox, RecordContext } from '../store/outbox.js';
import { SqlStore } from '../store/sql/sql-store.js';
import { Statements } from '../store/sql/statements.js';
import { sqliteTablePrefix } from '../store/sql/table-prefix.js';
import { assertDatabase, type SqliteDatabase } from './database.js';
import { sqliteDialect } from './outbox-dialect.js';
import { SqliteSession } from './outbox-session.js';

/** Options of {@link sqliteOutbox}. */
export interface SqliteOutboxOptions extends OutboxOptions {
  /**
   * The prefix of the tables (`payments`, `second_payments`) and their indexes: 1 to 40 ASCII
   * letters, digits and underscores, starting neither with a digit nor with `sqlite_`.
   * @default 'payment_outbox_'
   */
  prefix?: string | undefined;
  /**
   * The clock, in epoch milliseconds. Processes that share the file must share the clock.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

const rules = {
  ...outboxRules,
  ...logRules,
  prefix: withDefault('payment_outbox_', sqliteTablePrefix),
  now: clock,
} satisfies OptionRules<SqliteOutboxOptions>;

/** An outbox in SQLite. */
export interface SqliteOutbox extends PaymentOutbox<SqliteDatabase | undefined> {
  /**
   * Creates missing tables and indexes. Call it once, before you use the outbox. While another connection
   * has the file locked, it waits for at most 5 s, which blocks the process.
   */
  setup(): void;
  /**
   * Like `record`, but synchronous: for a transaction that is one function, as with better-sqlite3.
   * It takes part in the transaction that is open on the connection.
   *
   * @throws {InvalidRequestError} when the input is invalid
   * @throws {InvalidOptionError} when no transaction is open
   * @throws {StoreError} `REFERENCE_CONFLICT`, `MISSING_TABLES`
   */
  recordNow(input: CreatePaymentInput, context?: Pick<RecordContext<undefined>, 'extraBody'>): void;
}

/**
 * An outbox in a SQLite file, for the processes of one machine.
 *
 * While another connection has the file locked, or a transaction is open on this one, a step waits for at most 5 s,
 * without blocking. `tx` is the database itself, with your transaction open on it. Do not keep that transaction open
 * across any `await` except that of `record`; `recordNow` needs no `await`.
 *
 * The outbox sets `PRAGMA synchronous = FULL` on the connection at its first claim, unless that is OFF or EXTRA:
 * with NORMAL, which better-sqlite3 uses in WAL mode, a power cut could undo the record that a payment was sent.
 *
 * @param database - a `DatabaseSync` of node:sqlite or a `Database` of better-sqlite3; not closed by the outbox
 * @throws {InvalidOptionError} when the database or an option is invalid
 *
 * @example
 * ```ts
 * import Database from 'better-sqlite3';
 * import { PaymentClient } from 'merchant-payments';
 * import { sqliteOutbox } from 'merchant-payments/outbox/sqlite';
 *
 * const database = new Database('/var/lib/shop/payments.db');
 * database.pragma('journal_mode = WAL');
 * const outbox = sqliteOutbox(database, { client: PaymentClient.fromEnv() });
 * outbox.setup();
 *
 * const input = { merchantPaymentReference: 'order-1001', amount: 2500, currency: 'EUR' };
 * database.transaction(() => {
 *   database.prepare('INSERT INTO orders VALUES (?)').run(input.merchantPaymentReference);
 *   outbox.recordNow(input);
 * })();
 * await outbox.send(input.merchantPaymentReference);
 * ```
 */
export function sqliteOutbox(database: SqliteDatabase, options: SqliteOutboxOptions): SqliteOutbox {
  assertDatabase(database);
  const { client, leaseMs, logger, logReferences, prefix, now } = resolveOptions(options, rules, {
    holds: 'client',
  });
  const session = new SqliteSession(database);
  const statements = new Statements(sqliteDialect(prefix, now));
  // There is only one connection, so its open transaction is always the one used.
  const store = new SqlStore(session, statements, { needsTransaction: false });
  const engine = new Engine<SqliteDatabase | undefined>(store, { client, leaseMs });
  logOperations(engine, { logger, logReferences });
  return Object.assign(engine, {
    setup: () => session.createTables(statements),
    recordNow(input: CreatePaymentInput, context?: Pick<RecordContext<undefined>, 'extraBody'>) {
      const { key, intent } = engine.toRecord(input, context?.extraBody);
      assertSame(
        session.runNow(() => store.recordStep(key, intent)),
        intent,
      );
    },
  });
}
