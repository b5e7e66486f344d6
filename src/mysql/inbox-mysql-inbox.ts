import { resolveOptions } from '../protocol/options.js';
import { Attempt } from '../store/attempt.js';
import type { ChangeId } from '../store/failed-changes.js';
import type { FailureKeepingInbox, InboxContext, InboxOutcome } from '../store/inbox.js';
import { isProvider, type TransactionProvider } from '../store/providers/provider.js';
import { markDatabase } from '../store/shared-database.js';
import { Turns } from '../store/sql/turns.js';
import { deliverAsStep } from '../store/store-failure.js';
import { type StoredEvent, toStoredEvent } from '../store/stored-event.js';
import { WorkContext } from '../store/work-context.js';
import { EventRecord, type Unclaimed } from './inbox-event-record.js';
import { FailureTable } from './inbox-failure-table.js';
import { inboxRules, type MysqlInboxOptions, quoteTables, type Timeouts } from './inbox-options.js';
import { asStep } from './inbox-schema.js';
import { prune, setup } from './inbox-setup.js';
import { type MysqlTransactions, mysqlTransactions } from './mysql-transactions.js';
import {
  assertPool,
  type MysqlPoolLike,
  type MysqlQueryable,
  type MysqlTransactionOf,
} from './pool.js';
import { providedTransactions } from './provided-transaction.js';
import { withSavepoints } from './savepoints.js';
import { ASSERT_BEGUN } from './session.js';

/** An inbox in MySQL or MariaDB. */
export interface MysqlInbox<Tx = MysqlQueryable> extends FailureKeepingInbox<Tx> {
  /**
   * Creates missing tables and procedures. Any number of processes may call it at the same time.
   * If everything exists, it changes nothing and needs no right to create. If the application may not create
   * them, let a migration run `mysqlInboxSchema()`, or
   * `merchant-payments/inbox/mysql/schema.sql`. Without the procedures, the inbox sends more statements.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when it takes longer than `transactionTimeoutMs`; `STORE_FAILED` when the
   * server refuses (see `cause`)
   */
  setup(): Promise<void>;
  /**
   * Deletes events that were processed before `olderThan`. A later delivery of a deleted event runs again, and a
   * payment without a processed change since then loses its watermark, by which older changes are recognized as
   * stale. So keep events for longer than the service retries and than you may replay a callback. Also deletes
   * failed changes that last failed before `olderThan`, parked ones and stored bodies included. Reads each table
   * once, works in small batches, and skips rows that are being processed.
   *
   * @returns how many events and failed changes were deleted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   * @throws {StoreError} `MISSING_TABLES`, `STORE_TIMEOUT`, `STORE_FAILED`
   */
  prune(olderThan: Date): Promise<number>;
}

/**
 * An inbox in MySQL 8.0 or MariaDB 10.6, or later, for any number of processes (interface section 6). Its
 * tables, and yours that `work` writes to, must be InnoDB.
 *
 * The event, the payment's watermark and everything that `work` writes through `tx` commit in one
 * transaction, so the effect of a change happens exactly once. Whatever `work` does elsewhere (an email,
 * another database, the pool instead of `tx`) is not rolled back and may happen again.
 *
 * `tx` is a connection of the pool, at READ COMMITTED. A transaction that `work` begins on it becomes a
 * savepoint, and so does an ORM's nested transaction. A COMMIT or ROLLBACK without a BEGIN by `work` is refused, and
 * so are statements that commit implicitly: CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES, SET
 * autocommit. `release()` does nothing. If one of your procedures commits, nothing is recorded and the
 * callback fails. Await every query: if `work` returns while one is still running, the transaction is rolled back,
 * and a query sent later is refused. Session state (SET, GET_LOCK, USE) stays on the connection when
 * it returns to the pool.
 *
 * If `work` uses the pool instead of `tx`, and such work holds all connections, it waits for a connection that
 * becomes free only when `work` has ended. `idleTimeoutMs` ends this deadlock.
 *
 * Concurrent callbacks for one payment run one after another in the order in which they reached
 * the server, across any number of processes; each waits for at most `lockTimeoutMs`. There are 65,536 locks:
 * payments that share one also wait for each other. If the connection is lost, the
 * callback fails at once, without waiting for `work`: stop `work` when its `signal` aborts, as a later delivery
 * may run in the meantime.
 *
 * @example
 * ```ts
 * import { mysqlInbox } from 'merchant-payments/inbox/mysql';
 * import mysql from 'mysql2/promise';
 *
 * const pool = mysql.createPool(process.env.MYSQL_URL ?? '');
 *
 * const inbox = mysqlInbox(pool);
 * await inbox.setup();
 *
 * const event = {
 *   paymentReference: 'PAY-1',
 *   key: 'PAY-1-paid',
 *   occurredAt: new Date('2026-01-02T03:04:05Z'),
 *   processStale: false,
 * };
 * const outcome = await inbox.process(event, async ({ tx }) => {
 *   await tx.query('UPDATE orders SET paid = true WHERE reference = ?', ['PAY-1']);
 * });
 * console.log(outcome); // 'processed', and 'duplicate' from then on
 * ```
 *
 * @param pool - a `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function mysqlInbox<Pool extends MysqlPoolLike>(
  pool: Pool,
  options?: MysqlInboxOptions,
): MysqlInbox<MysqlTransactionOf<Pool>>;
/**
 * The same inbox in an ORM's transactions: `tx` is the ORM's own transaction object.
 *
 * The ORM owns the connection, so `tx` can do what the ORM allows: nested transactions are
 * the ORM's, and a statement that commits implicitly (CREATE, ALTER, TRUNCATE) is sent, after which the
 * callback fails. The inbox can't close a connection that does not answer. At a deadline the callback still
 * fails in time, the signal aborts, and the inbox asks the server to end the session.
 *
 * @example
 * ```ts
 * import { drizzle } from 'drizzle-orm/mysql2';
 * import { fromDrizzle, mysqlInbox } from 'merchant-payments/inbox/mysql';
 *
 * const db = drizzle(process.env.MYSQL_URL ?? '');
 * const inbox = mysqlInbox(fromDrizzle(db));
 * await inbox.setup();
 * ```
 *
 * @param provider - the result of `fromDrizzle`, `fromKysely`, `fromKnex`, `fromPrisma` or `fromTypeOrm`
 * @throws {InvalidOptionError} when `provider` is not a provider or uses another database, or an option is invalid
 * or unknown
 */
export function mysqlInbox<Tx>(
  provider: TransactionProvider<Tx>,
  options?: MysqlInboxOptions,
): MysqlInbox<Tx>;
/**
 * The same inbox, with an explicit type for `tx`.
 *
 * @param pool - a `Pool` of `mysql2/promise`, or `pool.promise()` of one of `mysql2`
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function mysqlInbox<Tx extends MysqlQueryable>(
  pool: MysqlPoolLike<Tx>,
  options?: MysqlInboxOptions,
): MysqlInbox<Tx>;
export function mysqlInbox(
  pool: MysqlPoolLike | TransactionProvider<MysqlQueryable>,
  options: MysqlInboxOptions = {},
): MysqlInbox {
  assertPool(pool);
  const { prefix, keepBodies, ...timeouts } = resolveOptions(options, inboxRules);
  const tables = quoteTables(prefix);
  const { transactions, runWork } = open(pool, timeouts);
  const record = new EventRecord(tables, timeouts);
  const failures = new FailureTable(transactions, tables, { ...timeouts, keepBodies });
  const turns = new Turns();
  const connecting = new Turns();

  const processInTurn = async (
    event: StoredEvent,
    names: ChangeId,
    leftMs: number,
    onQueued: () => void,
    attempt: Attempt,
    work: (context: InboxContext<MysqlQueryable>) => Promise<void>,
  ): Promise<InboxOutcome> => {
    const ended = await transactions.run<{ found: 'processed' } | Unclaimed>(async (connection) => {
      const claim = await record.claim(connection, event, leftMs, onQueued);
      if (claim.found !== 'claimed') return { end: 'rollback', result: claim };
      const { stale } = claim;
      attempt.begin(claim.seen);
      const isDone = await attempt.work(
        () => runWork(connection.tx, (tx) => work(new WorkContext(tx, stale, connection))),
        connection.isProvided ? undefined : failures.within(connection, event, names),
      );
      const ending = isDone
        ? claim.ending
        : ({ end: 'commit', statements: [ASSERT_BEGUN] } as const);
      return { ...ending, result: { found: 'processed' } };
    });
    // EventRecord has noted this, and now uses plain statements.
    if (ended.found === 'no procedures') {
      return processInTurn(event, names, leftMs, onQueued, attempt, work);
    }
    return ended.found;
  };

  const inbox: MysqlInbox = {
    async process(event, work) {
      const stored = toStoredEvent(event);
      const names = { paymentReference: event.paymentReference, key: event.key };
      const attempt = new Attempt(event, (failure) => failures.keep(stored, names, failure));
      // Different changes of a payment wait at the server, which orders those of all processes.
      const name = `${stored.reference} ${stored.key}`;
      const outcome = await deliverAsStep(asStep, work, (watched) =>
        turns.take(name, timeouts.lockTimeoutMs, (leftMs) =>
          attempt.run(() =>
            // Until a change is queued at the server, the next one must not connect, or it could overtake.
            connecting.take(stored.reference, leftMs, (stillLeftMs, onQueued) =>
              processInTurn(stored, names, stillLeftMs, onQueued, attempt, watched),
            ),
          ),
        ),
      );
      return outcome ?? 'busy';
    },

    async setup() {
      await asStep(setup(transactions, tables, timeouts));
      record.expectProcedures();
    },
    prune: (olderThan) => asStep(prune(transactions, timeouts, tables, olderThan)),
    keepsBodies: keepBodies,
    failedChanges: (listed) => failures.failedChanges(listed),
    discard: (change) => failures.discard(change),
  };
  return markDatabase(inbox, isProvider(pool) ? pool.database : pool);
}

interface Opened {
  readonly transactions: MysqlTransactions<MysqlQueryable>;
  /** Runs the work with its `tx`. */
  readonly runWork: typeof withSavepoints<MysqlQueryable>;
}

function open(
  database: MysqlPoolLike | TransactionProvider<MysqlQueryable>,
  timeouts: Timeouts,
): Opened {
  return isProvider(database)
    ? {
        transactions: providedTransactions(database, timeouts),
        runWork: (tx, work) => work(tx),
      }
    : { transactions: mysqlTransactions(database, timeouts), runWork: withSavepoints };
}
