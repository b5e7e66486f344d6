import { assertOptionsObject, assertWholeNumber } from '../../protocol/assert-option.js';
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
import { type PostgresInboxTables, quoteTables, schemaStatements } from './schema.js';
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
   * Makes the tables where they do not exist. Any number of processes may do so at once. It needs
   * the right to create tables; where the application has none, let a migration run
   * `postgresInboxSchema()`, or `merchant-payments/inbox/postgres/schema.sql`.
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

const MAX_TIMER_MS = 2_147_483_647;
// Any number will do that nobody else locks.
const SETUP_LOCK = 7_161_998_226_001;
const SETUP_LOCK_TIMEOUT_MS = 60_000;

/**
 * An inbox in Postgres, for any number of processes (interface section 6).
 *
 * The event, the payment's latest change and everything that `work` writes through `tx` are in one
 * transaction, so the effect of a change happens exactly once. What `work` does elsewhere (a mail,
 * another database, the pool instead of `tx`) is not undone with it and may happen again.
 *
 * `tx` is the pool's own client. Do not end its transaction; set a SAVEPOINT before a statement that
 * may fail, as Postgres undoes the whole transaction after an error. Concurrent callbacks for one
 * payment wait for each other, `lockTimeoutMs` at most.
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
  const range = { min: 1, max: MAX_TIMER_MS, unit: 'milliseconds' };
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
          const { tx, signal } = transaction;
          await work({ tx, signal });
          await record.record(transaction, stored, claim.transactionId);
          return { end: 'commit', result: 'processed' };
        }),
      );
      return outcome ?? 'busy';
    },

    setup() {
      return transactions.run(SETUP_LOCK_TIMEOUT_MS, async ({ tx }) => {
        // CREATE TABLE IF NOT EXISTS fails where two of them meet.
        await tx.query(`SELECT pg_advisory_xact_lock(${SETUP_LOCK})`);
        for (const statement of schemaStatements(tables)) await tx.query(statement);
        return { end: 'commit', result: undefined };
      });
    },

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
