import { resolveOptions } from '../../protocol/options.js';
import { pgTransactions } from '../../storage/postgres/pg-transactions.js';
import {
  assertPool,
  isPglite,
  type PgliteLike,
  type PgPoolLike,
  type Queryable,
  type TransactionOf,
} from '../../storage/postgres/pool.js';
import { providedTransactions } from '../../storage/postgres/provided-transaction.js';
import { withSavepoints } from '../../storage/postgres/savepoints.js';
import { pgliteTransactions, type Transactions } from '../../storage/postgres/transactions.js';
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
import { inboxRules, type PostgresInboxOptions, quoteTables, type Timeouts } from './options.js';
import { asStep } from './schema.js';
import { prune, setup } from './setup.js';

/** An inbox in Postgres. */
export interface PostgresInbox<Tx = Queryable> extends FailureKeepingInbox<Tx> {
  /**
   * Makes the tables, indexes and functions where they do not exist. Any number of processes may do
   * so at once, and where everything exists it locks nothing and needs no right to create. Where the
   * application has no such right, let a migration run `postgresInboxSchema()`, or
   * `merchant-payments/inbox/postgres/schema.sql`. Without the functions the inbox sends longer
   * statements, which cost Postgres more.
   *
   * The tables of 0.1 are kept. Stop its instances before those of this version start: they do not
   * wait for each other, and one payment's changes could overlap.
   *
   * @throws {InboxError} `INBOX_TIMEOUT` when an index is missing and its table is in use for more
   * than 2 seconds; `STORE_FAILED` when Postgres refuses, `cause` says how
   */
  setup(): Promise<void>;
  /**
   * Deletes events that were processed before `olderThan`, and payments of which no change was
   * processed since. Both are forgotten then: a later delivery of such an event runs
   * again, and with the payment goes the mark by which an older change is known as stale. So keep
   * events for longer than the service retries, and than a callback may be replayed. Deletes failed
   * changes too, parked ones and their bodies included, that last failed before `olderThan`. Works in small
   * batches and leaves out what is being processed.
   *
   * @returns how many events and failed changes were deleted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   * @throws {InboxError} `MISSING_TABLES`, `INBOX_TIMEOUT`, `STORE_FAILED`
   */
  prune(olderThan: Date): Promise<number>;
}

/**
 * An inbox in Postgres, for any number of processes (interface section 6).
 *
 * The event, the payment's latest change and everything that `work` writes through `tx` are in one
 * transaction, so the effect of a change happens exactly once. What `work` does elsewhere (a mail,
 * another database, the pool instead of `tx`) is not undone with it and may happen again.
 *
 * `tx` is the pool's own client, on which a transaction that `work` begins is a savepoint: so are an
 * ORM's nested ones. Put a statement that may fail in one, as Postgres undoes the whole transaction
 * after an error. A COMMIT or ROLLBACK without a BEGIN of the work is refused, and `release()` does
 * nothing. Await every query: `work` that returns before one has ended is undone, and one that is
 * sent later is refused. What is set for the session (SET
 * without LOCAL, `pg_advisory_lock`, LISTEN) stays on the connection when it goes back to the pool;
 * use SET LOCAL and `pg_advisory_xact_lock`.
 *
 * `work` that uses the pool instead of `tx` while all of its connections are taken by such work waits
 * for a connection that comes free only when `work` has ended, until `idleTimeoutMs` ends that.
 *
 * Concurrent callbacks for one payment run one after another in the order in which they reached
 * Postgres, from any number of processes; each waits `lockTimeoutMs` at most. When the connection is
 * lost, the callback fails at once and does not wait for `work`: stop it by its `signal`, as a later
 * delivery may run meanwhile.
 *
 * A PGlite is one connection: everything waits for everything, and `work` that uses the database
 * instead of `tx` waits for itself for ever.
 *
 * @example
 * ```ts
 * import { postgresInbox } from 'merchant-payments/inbox/postgres';
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * // A connection that breaks while it is idle.
 * pool.on('error', console.error);
 *
 * const inbox = postgresInbox(pool);
 * await inbox.setup();
 *
 * const event = {
 *   paymentReference: 'PAY-1',
 *   key: 'PAY-1-paid',
 *   occurredAt: new Date('2026-01-02T03:04:05Z'),
 *   processStale: false,
 * };
 * const outcome = await inbox.process(event, async ({ tx }) => {
 *   await tx.query('UPDATE orders SET paid = true WHERE reference = $1', ['PAY-1']);
 * });
 * console.log(outcome); // 'processed', and 'duplicate' from then on
 * ```
 *
 * @param pool - a `Pool` of `pg` or a PGlite
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function postgresInbox<Pool extends PgPoolLike | PgliteLike>(
  pool: Pool,
  options?: PostgresInboxOptions,
): PostgresInbox<TransactionOf<Pool>>;
/**
 * The same in the transactions of an ORM, whose own transaction is `tx`.
 *
 * The ORM owns the connection, so what `tx` can do is what the ORM lets it do: nested transactions are
 * the ORM's, and the inbox can't close a connection that does not answer. After a deadline the callback
 * fails in time all the same, the signal aborts, and Postgres is asked to end the session.
 *
 * @example
 * ```ts
 * import { drizzle } from 'drizzle-orm/node-postgres';
 * import { fromDrizzle, postgresInbox } from 'merchant-payments/inbox/postgres';
 *
 * const db = drizzle(process.env.DATABASE_URL ?? '');
 * const inbox = postgresInbox(fromDrizzle(db));
 * await inbox.setup();
 * ```
 *
 * @param provider - what `fromDrizzle`, `fromKysely`, `fromKnex`, `fromPrisma`, `fromTypeOrm` or
 * `fromPostgresJs` gives
 * @throws {InvalidOptionError} when `provider` is none, or an option is invalid or unknown
 */
export function postgresInbox<Tx, Taken = Tx>(
  provider: TransactionProvider<Tx, Taken>,
  options?: PostgresInboxOptions,
): PostgresInbox<Tx>;
/**
 * The same, with a `tx` of a type that you name.
 *
 * @param pool - a `Pool` of `pg` or a PGlite
 * @throws {InvalidOptionError} when `pool` is neither, or an option is invalid or unknown
 */
export function postgresInbox<Tx extends Queryable>(
  pool: PgPoolLike<Tx> | PgliteLike<Tx>,
  options?: PostgresInboxOptions,
): PostgresInbox<Tx>;
export function postgresInbox(
  pool: PgPoolLike | PgliteLike | TransactionProvider<Queryable>,
  options: PostgresInboxOptions = {},
): PostgresInbox {
  assertPool(pool);
  const { prefix, keepBodies, ...timeouts } = resolveOptions(options, inboxRules);
  const tables = quoteTables(prefix);
  const { lockTimeoutMs } = timeouts;
  const isProvided = isProvider(pool);
  const { transactions, isSingle, runWork } = open(pool, timeouts);
  const record = new EventRecord(tables, timeouts);
  const failures = new FailureTable(transactions, tables, { ...timeouts, keepBodies });
  const turns = new Turns();

  const processInTurn = async (
    event: StoredEvent,
    names: ChangeId,
    leftMs: number,
    attempt: Attempt,
    work: (context: InboxContext<Queryable>) => Promise<void>,
  ): Promise<InboxOutcome> => {
    const ended = await transactions.run<{ found: 'processed' } | Unclaimed>(
      async (transaction) => {
        const claim = await record.claim(transaction, event, leftMs);
        if (claim.found !== 'claimed') return { end: 'rollback', result: claim };
        const { stale } = claim;
        attempt.begin(claim.seen);
        const run = () =>
          runWork(transaction.tx, (tx) => work(new WorkContext(tx, stale, transaction)));
        // With an ORM on one connection the turn lasts until the failure is kept.
        const isDone = isProvided
          ? await (isSingle ? run().then(() => true) : attempt.work(run, undefined))
          : await attempt.work(run, failures.within(transaction, event, names));
        const statements = isDone ? claim.record : [];
        return { end: 'commit', result: { found: 'processed' }, statements };
      },
    );
    // From now on the record does without them.
    if (ended.found === 'no functions') return processInTurn(event, names, leftMs, attempt, work);
    return ended.found;
  };

  const inbox: PostgresInbox<Queryable> = {
    async process(event, work) {
      const stored = toStoredEvent(event);
      const { reference, key } = stored;
      const names = { paymentReference: event.paymentReference, key: event.key };
      const attempt = new Attempt(event, (failure) => failures.keep(stored, names, failure));
      // Other changes of the payment wait at Postgres, where those of all processes are in one order.
      // PGlite has one connection, so that whatever waits there makes everything wait.
      const name = isSingle ? reference : `${reference} ${key}`;
      const outcome = await deliverAsStep(asStep, work, (watched) =>
        turns.take(name, lockTimeoutMs, (leftMs) =>
          attempt.run(() => processInTurn(stored, names, leftMs, attempt, watched)),
        ),
      );
      return outcome ?? 'busy';
    },

    async setup() {
      await asStep(setup(transactions, tables, timeouts));
      record.expectFunctions();
    },
    prune: (olderThan) => asStep(prune(transactions, timeouts, tables, olderThan)),
    keepsBodies: keepBodies,
    failedChanges: (listed) => failures.failedChanges(listed),
    discard: (change) => failures.discard(change),
  };
  return markDatabase(inbox, isProvider(pool) ? pool.database : pool);
}

interface Opened {
  readonly transactions: Transactions<Queryable>;
  /** Whether there is one connection for all. */
  readonly isSingle: boolean;
  /** Runs work on what it is to have as `tx`. */
  readonly runWork: typeof withSavepoints<Queryable>;
}

function open(
  database: PgPoolLike | PgliteLike | TransactionProvider<Queryable>,
  timeouts: Timeouts,
): Opened {
  if (isProvider(database)) {
    const transactions = providedTransactions(database, timeouts);
    return { transactions, isSingle: database.isSingle, runWork: (tx, work) => work(tx) };
  }
  const isSingle = isPglite(database);
  const transactions = isSingle
    ? pgliteTransactions(database, timeouts.acquireTimeoutMs)
    : pgTransactions(database, timeouts);
  return { transactions, isSingle, runWork: withSavepoints };
}
