import {
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
} from '../../protocol/assert-option.js';
import {
  type CallbackInbox,
  type InboxEvent,
  type InboxOutcome,
  toEpochMicroseconds,
} from '../inbox.js';
import { toStoredName } from '../stored-name.js';
import { EventRecord, type StoredEvent } from './event-record.js';
import { pgTransactions } from './pg-transactions.js';
import { pgliteTransactions } from './pglite-transactions.js';
import { assertPool, isPglite, type PgliteLike, type PgPoolLike, type Queryable } from './pool.js';
import { prune } from './prune.js';
import { withSavepoints } from './savepoints.js';
import { type PostgresInboxTables, quoteTables } from './schema.js';
import { setup } from './setup.js';
import type { Ending } from './transactions.js';
import { Turns } from './turns.js';

/** Options of {@link postgresInbox}. */
export interface PostgresInboxOptions extends PostgresInboxTables {
  /**
   * How long a callback waits for another one of its payment, in milliseconds, before it is `busy`.
   * Keep it shorter than the service waits for an answer. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  lockTimeoutMs?: number | undefined;
  /**
   * How long a callback waits for a connection of the pool, in milliseconds; a pool by itself waits
   * for ever. A whole number from 1 to 2_147_483_647.
   * @default 5_000
   */
  acquireTimeoutMs?: number | undefined;
  /**
   * How long the work may go without a statement, in milliseconds, before Postgres ends its
   * transaction (`TRANSACTION_LOST`, and the signal aborts). Without a limit a machine that vanished
   * would keep its payment locked until the server notices, which can take hours. A whole number
   * from 1 to 2_147_483_647. PGlite, which shares the process, has none.
   * @default 60_000
   */
  idleTimeoutMs?: number | undefined;
}

/** An inbox in Postgres. */
export interface PostgresInbox<Tx extends Queryable = Queryable> extends CallbackInbox<Tx> {
  /**
   * Makes the tables and their indexes where they do not exist. Any number of processes may do so
   * at once, and where everything exists it locks nothing and needs no right to create. Where the
   * application has no such right, let a migration run `postgresInboxSchema()`, or
   * `merchant-payments/inbox/postgres/schema.sql`.
   *
   * @throws {InboxError} `INBOX_TIMEOUT` when an index is missing and its table is in use for more
   * than 2 seconds
   */
  setup(): Promise<void>;
  /**
   * Deletes events that were processed before `olderThan`, and payments of which no change was
   * processed since. Both are forgotten then: a callback for such an event that comes again runs
   * again, and with the payment goes the mark by which an older change is known as stale. So keep
   * events for longer than the service retries, and than a callback may be replayed. Works in small
   * batches and leaves out what is being processed.
   *
   * @returns how many events were deleted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
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
 * Concurrent callbacks for one payment wait for each other, `lockTimeoutMs` at most. When the
 * connection is lost, the callback fails at once and does not wait for `work`: stop it by its
 * `signal`, as a later delivery may run meanwhile.
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
 * // A connection that breaks while nobody uses it is the pool's to report.
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
 * @throws {InvalidOptionError} when `pool` is neither, or an option can't be right
 */
export function postgresInbox<Tx extends Queryable = Queryable>(
  pool: PgPoolLike<Tx> | PgliteLike<Tx>,
  options: PostgresInboxOptions = {},
): PostgresInbox<Tx> {
  assertPool(pool);
  assertOptionsObject(
    'options',
    options,
    'paymentsTable, eventsTable, lockTimeoutMs, acquireTimeoutMs and idleTimeoutMs',
  );
  const { lockTimeoutMs = 5_000, acquireTimeoutMs = 5_000, idleTimeoutMs = 60_000 } = options;
  const range = { min: 1, max: LONGEST_TIMER_MS, unit: 'milliseconds' };
  assertWholeNumber('lockTimeoutMs', lockTimeoutMs, range);
  assertWholeNumber('acquireTimeoutMs', acquireTimeoutMs, range);
  assertWholeNumber('idleTimeoutMs', idleTimeoutMs, range);
  const tables = quoteTables(options);

  const transactions = isPglite(pool)
    ? pgliteTransactions(pool, acquireTimeoutMs)
    : pgTransactions(pool, { acquireTimeoutMs, idleTimeoutMs });
  const record = new EventRecord(tables);
  const turns = new Turns();

  return {
    async process(event, work) {
      const stored = toStoredEvent(event);
      const outcome = await turns.take(stored.reference, lockTimeoutMs, (leftMs) =>
        transactions.run(leftMs, async (transaction): Promise<Ending<InboxOutcome>> => {
          const claim = await record.claim(transaction, stored);
          if (claim.found !== 'claimed') return { end: 'rollback', result: claim.found };
          const { signal } = transaction;
          await withSavepoints(transaction.tx, (tx) => work({ tx, signal, stale: false }));
          await record.record(transaction, stored, claim.held);
          return { end: 'commit', result: 'processed' };
        }),
      );
      return outcome ?? 'busy';
    },

    setup: () => setup(transactions, tables),
    prune: (olderThan) => prune(transactions, lockTimeoutMs, tables, olderThan),
  };
}

function toStoredEvent(event: InboxEvent): StoredEvent {
  return {
    reference: toStoredName(event.paymentReference),
    key: toStoredName(event.key),
    occurredAtUs: String(toEpochMicroseconds(event)),
    processStale: event.processStale,
  };
}
