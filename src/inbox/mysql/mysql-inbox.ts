import { resolveOptions } from '../../protocol/options.js';
import {
  type MysqlTransactions,
  mysqlTransactions,
} from '../../storage/mysql/mysql-transactions.js';
import {
  assertPool,
  type MysqlPoolLike,
  type MysqlQueryable,
  type MysqlTransactionOf,
} from '../../storage/mysql/pool.js';
import { providedTransactions } from '../../storage/mysql/provided-transaction.js';
import { withSavepoints } from '../../storage/mysql/savepoints.js';
import { ASSERT_BEGUN } from '../../storage/mysql/session.js';
import { isProvider, type TransactionProvider } from '../../storage/providers/provider.js';
import { markDatabase } from '../../storage/shared-database.js';
import { Turns } from '../../storage/turns.js';
import { Attempt } from '../attempt.js';
import type { ChangeId } from '../failed-changes.js';
import type { FailureKeepingInbox, InboxContext, InboxOutcome } from '../inbox.js';
import { deliverAsStep } from '../store-failure.js';
import { type StoredEvent, toStoredEvent } from '../stored-event.js';
import { WorkContext } from '../work-context.js';
import { EventRecord, type Unclaimed } from './event-record.js';
import { FailureTable } from './failure-table.js';
import { inboxRules, type MysqlInboxOptions, quoteTables, type Timeouts } from './options.js';
import { asStep } from './schema.js';
import { prune, setup } from './setup.js';

/** An inbox in MySQL or MariaDB. */
export interface MysqlInbox<Tx = MysqlQueryable> extends FailureKeepingInbox<Tx> {
  /**
   * Makes the tables and procedures where they do not exist. Any number of processes may do so at once,
   * and where everything exists it changes nothing and needs no right to create. Where the application has
   * no such right, let a migration run `mysqlInboxSchema()`, or
   * `merchant-payments/inbox/mysql/schema.sql`. Without the procedures the inbox sends more statements.
   *
   * @throws {InboxError} `INBOX_TIMEOUT` when it takes longer than `transactionTimeoutMs`; `STORE_FAILED` when the
   * server refuses, `cause` says how
   */
  setup(): Promise<void>;
  /**
   * Deletes events that were processed before `olderThan`, and forgets payments of which no change was
   * processed since: a later delivery of such an event runs again, and with the payment goes the mark
   * by which an older change is known as stale. So keep events for longer than the service retries, and than
   * a callback may be replayed. Deletes failed changes too, parked ones and their bodies included, that last
   * failed before `olderThan`. Reads each table once, works in small batches, and leaves out what is being
   * processed.
   *
   * @returns how many events and failed changes were deleted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   * @throws {InboxError} `MISSING_TABLES`, `INBOX_TIMEOUT`, `STORE_FAILED`
   */
  prune(olderThan: Date): Promise<number>;
}

/**
 * An inbox in MySQL 8.0 or MariaDB 10.6, or later, for any number of processes (interface section 6). Its
 * tables, and yours that `work` writes to, must be InnoDB.
 *
 * The event, the payment's latest change and everything that `work` writes through `tx` are in one
 * transaction, so the effect of a change happens exactly once. What `work` does elsewhere (a mail,
 * another database, the pool instead of `tx`) is not undone with it and may happen again.
 *
 * `tx` is the pool's own connection, at READ COMMITTED, on which a transaction that `work` begins is a
 * savepoint: so are an ORM's nested ones. A COMMIT or ROLLBACK without a BEGIN of the work is refused, and
 * so is what the server commits for as a side effect: CREATE, ALTER, DROP, TRUNCATE, LOCK TABLES, SET
 * autocommit. `release()` does nothing. Where a procedure of yours commits, nothing is recorded and the
 * callback fails. Await every query: `work` that returns before one has ended is undone, and one that is sent
 * later is refused. What is set for the session (SET, GET_LOCK, USE) stays on the connection when
 * it goes back to the pool.
 *
 * `work` that uses the pool instead of `tx` while all of its connections are taken by such work waits
 * for a connection that comes free only when `work` has ended, until `idleTimeoutMs` ends that.
 *
 * Concurrent callbacks for one payment run one after another in the order in which they reached
 * the server, from any number of processes; each waits `lockTimeoutMs` at most. Of 65,536 payments one
 * shares its lock with another, and they wait for each other as well. When the connection is lost, the
 * callback fails at once and does not wait for `work`: stop it by its `signal`, as a later delivery
 * may run meanwhile.
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
 * The same in the transactions of an ORM, whose own transaction is `tx`.
 *
 * The ORM owns the connection, so what `tx` can do is what the ORM lets it do: nested transactions are
 * the ORM's, and a statement that commits as a side effect (CREATE, ALTER, TRUNCATE) is sent, after which the
 * callback fails. The inbox can't close a connection that does not answer: after a deadline the callback
 * fails in time all the same, the signal aborts, and the server is asked to end the session.
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
 * @param provider - what `fromDrizzle`, `fromKysely`, `fromKnex`, `fromPrisma` or `fromTypeOrm` gives
 * @throws {InvalidOptionError} when `provider` is none, or is on another database, or an option is invalid
 * or unknown
 */
export function mysqlInbox<Tx>(
  provider: TransactionProvider<Tx>,
  options?: MysqlInboxOptions,
): MysqlInbox<Tx>;
/**
 * The same, with a `tx` of a type that you name.
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
  const entrances = new Turns();

  const processInTurn = async (
    event: StoredEvent,
    names: ChangeId,
    leftMs: number,
    onInLine: () => void,
    attempt: Attempt,
    work: (context: InboxContext<MysqlQueryable>) => Promise<void>,
  ): Promise<InboxOutcome> => {
    const ended = await transactions.run<{ found: 'processed' } | Unclaimed>(async (connection) => {
      const claim = await record.claim(connection, event, leftMs, onInLine);
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
    // From now on the record does without them.
    if (ended.found === 'no procedures') {
      return processInTurn(event, names, leftMs, onInLine, attempt, work);
    }
    return ended.found;
  };

  const inbox: MysqlInbox = {
    async process(event, work) {
      const stored = toStoredEvent(event);
      const names = { paymentReference: event.paymentReference, key: event.key };
      const attempt = new Attempt(event, (failure) => failures.keep(stored, names, failure));
      // Other changes of the payment wait at the server, where those of all processes are in one order.
      const name = `${stored.reference} ${stored.key}`;
      const outcome = await deliverAsStep(asStep, work, (watched) =>
        turns.take(name, timeouts.lockTimeoutMs, (leftMs) =>
          attempt.run(() =>
            // One that is still being connected would be overtaken by the next.
            entrances.take(stored.reference, leftMs, (stillLeftMs, onInLine) =>
              processInTurn(stored, names, stillLeftMs, onInLine, attempt, watched),
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
  /** Runs work on what it is to have as `tx`. */
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
