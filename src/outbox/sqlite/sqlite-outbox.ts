import { clock, type OptionRules, resolveOptions, withDefault } from '../../protocol/options.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import { assertDatabase, type SqliteDatabase } from '../../storage/sqlite/database.js';
import { sqliteTablePrefix } from '../../storage/table-prefix.js';
import { assertSame, Engine } from '../engine.js';
import { logOperations } from '../operation-log.js';
import { logRules, type OutboxOptions, outboxRules } from '../options.js';
import type { PaymentOutbox, RecordContext } from '../outbox.js';
import { SqliteStore } from './sqlite-store.js';

/** Options of {@link sqliteOutbox}. */
export interface SqliteOutboxOptions extends OutboxOptions {
  /**
   * What the names of the tables (`payments`, `second_payments`) and their indexes begin with: 1 to 40 ASCII
   * letters, digits and underscores, not starting with a digit, and not with `sqlite_`.
   * @default 'payment_outbox_'
   */
  prefix?: string | undefined;
  /**
   * The clock, in epoch milliseconds. Processes that share the file must share it.
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
   * Creates the tables and their indexes where they are missing. Call it once, before the outbox is used.
   * Waits, and blocks the process, for at most 5 s while another connection has the file locked.
   */
  setup(): void;
  /**
   * As `record`, done before it returns: for a transaction that is one function, as that of better-sqlite3.
   * It is part of whatever transaction is open on the connection.
   *
   * @throws {InvalidRequestError} when the input is invalid
   * @throws {OutboxError} `REFERENCE_CONFLICT`, `MISSING_TABLES`
   */
  recordNow(input: CreatePaymentInput, context?: Pick<RecordContext<undefined>, 'extraBody'>): void;
}

/**
 * An outbox in a SQLite file, for the processes of one machine.
 *
 * A step of it waits, without blocking, while another connection has the file locked or a transaction is open
 * on this one: for 5 s at most. `tx` is the database itself, with your transaction open on it. Keep that open
 * across no `await` but that of `record`; `recordNow` needs none.
 *
 * The outbox sets `PRAGMA synchronous = FULL` on the connection at its first claim, unless that is OFF or EXTRA:
 * with NORMAL, which better-sqlite3 has in WAL, a power cut makes it forget that a payment was sent.
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
  const store = new SqliteStore(database, prefix, now);
  const engine = new Engine<SqliteDatabase | undefined>(store, { client, leaseMs });
  logOperations(engine, { logger, logReferences });
  return Object.assign(engine, {
    setup: () => store.createTables(),
    recordNow(input: CreatePaymentInput, context?: Pick<RecordContext<undefined>, 'extraBody'>) {
      const { key, intent } = engine.toRecord(input, context?.extraBody);
      assertSame(store.recordNow(key, intent), intent);
    },
  });
}
