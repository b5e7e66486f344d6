import { resolveOptions } from '../protocol/options.js';
import { pgTransactions } from './pg-transactions.js';
import {
  assertPool,
  isPglite,
  type PgliteLike,
  type PgPoolLike,
  type Queryable,
  type TransactionOf,
} from './pool.js';
import { providedTransactions } from './provided-transaction.js';
import { withSavepoints } from './savepoints.js';
import { pgliteTransactions, type Transactions } from './transactions.js';
import { isProvider, type TransactionProvider } from '../store/providers/provider.js';
import { markDatabase } from '../store/shared-database.js';
import { Turns } from '../store/sql/turns.js';
import { Attempt } from '../store/attempt.js';
import type { ChangeId } from '../store/failed-changes.js';
import type { FailureKeepingInbox, InboxContext, InboxOutcome } from '../store/inbox.js';
import { deliverAsStep } from '../store/store-failure.js';
import { type StoredEvent, toStoredEvent } from '../store/stored-event.js';
import { WorkContext } from '../store/work-context.js';
import { EventRecord, type Unclaimed } from './inbox-event-record.js';
import { FailureTable } from './inbox-failure-table.js';
import { inboxRules, type PostgresInboxOptions, quoteTables, type Timeouts } from './inbox-options.js';
import { asStep } from './inbox-schema.js';
import { prune, setup } from './inbox-setup.js';

/** An inbox in Postgres. */
export interface PostgresInbox<Tx = Queryable> extends FailureKeepingInbox<Tx> {
  /**
   * Creates missing tables, indexes and functions. Any number of processes may call it at the same time.
   * If everything exists, it takes no locks and needs no right to create. If the application may not create
   * them, let a migration run `postgresInboxSchema()`, or
   * `merchant-payments/inbox/postgres/schema.sql`. Without the functions, the inbox sends longer
   * statements, which cost Postgres more.
   *
   * @throws {StoreError} `STORE_TIMEOUT` when an index is missing and its table stays in use for more
   * than 2 seconds; `STORE_FAILED` when Postgres refuses (see `cause`)
   */
  setup(): Promise<void>;
  /**
   * Deletes events that were processed before `olderThan`, and payments without a processed change since then.
   * A later delivery of a deleted event runs again, and a deleted payment loses its watermark, by which older
   * changes are recognized as stale. So keep events for longer than the service retries and than
   * you may replay a callback. Also deletes failed changes that last failed before `olderThan`, parked ones and
   * stored bodies included. Works in small batches, and skips rows that are being processed.
   *
   * @returns how many events and failed changes were deleted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   * @throws {StoreError} `MISSING_TABLES`, `STORE_TIMEOUT`, `STORE_FAILED`
   */
  prune(olderThan: Date): Promise<number>;
}

/**
 * An inbox in Postgres, for any number of processes (interface section 6).
 *
 * The event, the payment's watermark and everything that `work` writes through `tx` commit in one
 * transaction, so the effect of a change happens exactly once. Whatever `work` does elsewhere (an email,
 * another database, the pool instead of `tx`) is not rolled back and may happen again.
 *
 * `tx` is a client of the pool. A transaction that `work` begins on it becomes a savepoint, and so does an
 * ORM's nested transaction. Wrap a statement that may fail in one, because an error otherwise makes Postgres abort
 * the whole transaction. A COMMIT or ROLLBACK without a BEGIN by `work` is refused, and `release()` does
 * nothing. Await every query: if `work` returns while one is still running, the transaction is rolled back, and a
 * query sent later is refused. Session state (SET without LOCAL, `pg_advisory_lock`, LISTEN) stays on the
 * connection when it returns to the pool; use SET LOCAL and `pg_advisory_xact_lock`.
 *
 * If `work` uses the pool instead of `tx`, and such work holds all connections, it waits for a connection that
 * becomes free only when `work` has ended. `idleTimeoutMs` ends this deadlock.
 *
 * Concurrent callbacks for one payment run one after another in the order in which they reached
 * Postgres, across any number of processes; each waits for at most `lockTimeoutMs`. If the connection is
 * lost, the callback fails at once, without waiting for `work`: stop `work` when its `signal` aborts, as a later
 * delivery may run in the meantime.
 *
 * A PGlite is a single connection: all callbacks wait for each other, and `work` that uses the database
 * instead of `tx` waits for itself, without end.
 *
 * @example
 * ```ts
 * import { postgresInbox } from 'merchant-payments/inbox/postgres';
 * import pg from 'pg';
 *
 * const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });
 * // Emitted when an idle connection breaks; without a listener, it ends the process.
 * pool.on('error', ({ message }) => console.error(message));
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
 * The same inbox in an ORM's transactions: `tx` is the ORM's own transaction object.
 *
 * The ORM owns the connection, so `tx` can do what the ORM allows: nested transactions are
 * the ORM's, and the inbox can't close a connection that does not answer. At a deadline the callback still
 * fails in time, the signal aborts, and the inbox asks Postgres to end the session.
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
 * @param provider - the result of `fromDrizzle`, `fromKysely`, `fromKnex`, `fromPrisma`, `fromTypeOrm` or
 * `fromPostgresJs`
 * @throws {InvalidOptionError} when `provider` is not a provider, or an option is invalid or unknown
 */
export function postgresInbox<Tx, Taken = Tx>(
  provider: TransactionProvider<Tx, Taken>,
  options?: PostgresInboxOptions,
): PostgresInbox<Tx>;
/**
 * The same inbox, with an explicit type for `tx`.
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
        // With an ORM on one connection, the failure can be stored only after the transaction; the turn lasts until then.
        const isDone = isProvided
          ? await (isSingle ? run().then(() => true) : attempt.work(run, undefined))
          : await attempt.work(run, failures.within(transaction, event, names));
        const statements = isDone ? claim.record : [];
        return { end: 'commit', result: { found: 'processed' }, statements };
      },
    );
    // EventRecord has noted this, and now uses plain statements.
    if (ended.found === 'no functions') return processInTurn(event, names, leftMs, attempt, work);
    return ended.found;
  };

  const inbox: PostgresInbox<Queryable> = {
    async process(event, work) {
      const stored = toStoredEvent(event);
      const { reference, key } = stored;
      const names = { paymentReference: event.paymentReference, key: event.key };
      const attempt = new Attempt(event, (failure) => failures.keep(stored, names, failure));
      // Different changes of a payment wait in Postgres, which orders those of all processes. PGlite has
      // one connection, on which a wait would block everything, so they wait here.
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
  /** Whether there is only one connection. */
  readonly isSingle: boolean;
  /** Runs the work with its `tx`. */
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
