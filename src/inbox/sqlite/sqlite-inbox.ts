import { randomUUID } from 'node:crypto';
import { InboxError, InvalidOptionError } from '../../errors.js';
import { assertDate } from '../../protocol/assert-option.js';
import { type ClaimAnswer, isClaimed } from '../claim-answer.js';
import { type CallbackInbox, type InboxEvent, toEpochMicroseconds } from '../inbox.js';
import { type Lease, runUnderLease } from '../lease.js';
import { toStoredName } from '../stored-name.js';
import {
  assertDatabase,
  assertNoTransaction,
  isInTransaction,
  isInUse,
  isLocked,
  type SqliteDatabase,
} from './database.js';
import { resolveOptions, type SqliteInboxOptions } from './options.js';
import { SqliteStore, type StoredClaim } from './store.js';

/** An inbox in SQLite. */
export interface SqliteInbox extends CallbackInbox {
  /**
   * Creates the two tables and their index where they are missing. To call once, before the inbox is
   * used. Waits, and blocks the process, for at most 5 s while another connection has the file locked.
   */
  setup(): void;
  /**
   * Forgets the payments that were last changed before `olderThan`, but for those being processed
   * right now: the oldest 5,000 of them, since the process stands still for it. Call it until it
   * returns 0, with a turn of the event loop in between. A callback for one of them that comes again is processed again: keep longer than the
   * service retries.
   *
   * @returns how many processed changes were forgotten
   * @throws {InvalidOptionError} when `olderThan` is no valid Date, or the tables are missing
   */
  prune(olderThan: Date): number;
}

/**
 * An inbox in a SQLite file, for the processes of one machine: durable, and at least once (interface
 * section 6). A process that dies leaves its claim to expire after `leaseMs`, and the next delivery
 * runs `work` again. `work` is outside of any transaction of the inbox: what it writes is not undone
 * when recording the event fails.
 *
 * The inbox leaves the connection's settings alone. WAL is recommended
 * (`PRAGMA journal_mode = WAL`), for readers then don't block it. A file that another connection has
 * locked makes a callback `busy` when it comes; at the end of the work the inbox tries again, without
 * blocking, for as long as the lease lives. The connection's own busy timeout (better-sqlite3: 5 s)
 * does block the process; it may be short. The connection may be the merchant's own, as long as no
 * transaction on it is open across an `await`. An `iterate()` of better-sqlite3 that is under way on it
 * counts like a lock, and so does a transaction with node:sqlite before Node 22.16.
 *
 * While a change of a payment is being processed, every callback for that payment that is neither
 * `duplicate` nor `stale` is `busy`.
 *
 * `process` rejects with an {@link InboxError}: `LEASE_LOST` when another process took over,
 * `INBOX_TIMEOUT` when the file stayed locked until the lease had expired; with an
 * {@link InvalidOptionError} when the tables are missing or the connection is in a transaction; and
 * with the driver's own errors.
 *
 * @param database - a `DatabaseSync` of node:sqlite or a `Database` of better-sqlite3; not closed
 * by the inbox
 * @throws {InvalidOptionError} when the database or an option can't be right
 *
 * @example
 * ```ts
 * import Database from 'better-sqlite3';
 * import { sqliteInbox } from 'merchant-payments/inbox/sqlite';
 *
 * const database = new Database('/var/lib/shop/payments.db');
 * database.pragma('journal_mode = WAL');
 * const inbox = sqliteInbox(database);
 * inbox.setup();
 * ```
 */
export function sqliteInbox(
  database: SqliteDatabase,
  options: SqliteInboxOptions = {},
): SqliteInbox {
  assertDatabase(database);
  const { tablePrefix, leaseMs, renewForMs, now } = resolveOptions(options);
  const store = new SqliteStore(database, tablePrefix);

  return {
    async process(event, work) {
      const claim = toClaim(event);
      const lease = createLease({ database, store, claim, leaseMs, renewForMs, now });
      const found = claimUnlessBlocked(() => lease.claim(event.processStale));
      if (!isClaimed(found)) return found;
      const stale = found === 'claimed-stale';
      return runUnderLease(lease, (signal) => work({ tx: undefined, signal, stale }));
    },
    setup: () => store.createTables(),
    prune(olderThan) {
      assertDate('olderThan', olderThan);
      assertNoTransaction(database);
      return store.prune(olderThan.getTime(), now());
    },
  };
}

function toClaim(event: InboxEvent): StoredClaim {
  return {
    reference: toStoredName(event.paymentReference),
    key: toStoredName(event.key),
    occurredAt: toEpochMicroseconds(event),
    owner: randomUUID(),
  };
}

function claimUnlessBlocked(claim: () => ClaimAnswer): ClaimAnswer {
  try {
    return claim();
  } catch (error) {
    if (isLocked(error) || isInUse(error)) return 'busy';
    throw error;
  }
}

interface LeaseInput {
  readonly database: SqliteDatabase;
  readonly store: SqliteStore;
  readonly claim: StoredClaim;
  readonly leaseMs: number;
  readonly renewForMs: number;
  readonly now: () => number;
}

interface SqliteLease extends Lease {
  claim(processStale: boolean): ClaimAnswer;
}

function createLease({
  database,
  store,
  claim,
  leaseMs,
  renewForMs,
  now,
}: LeaseInput): SqliteLease {
  let expiresAtMs = 0;
  const whenFree = <T>(step: () => T): Promise<T> =>
    retryWhileBlocked(database, step, () => now() < expiresAtMs);

  return {
    durationMs: leaseMs,
    renewForMs,
    askedAtMs: performance.now(),
    claim(processStale) {
      assertNoTransaction(database);
      // Read first: most callbacks that come again need no write lock.
      const found = store.check(claim, processStale, now());
      if (!isClaimed(found)) return found;
      const answer = store.claim(claim, { processStale, leaseMs, now });
      expiresAtMs = now() + leaseMs;
      return answer;
    },
    async renew() {
      assertNoTransaction(database);
      const untilMs = now() + leaseMs;
      const renewed = store.renew(claim, untilMs);
      if (renewed) expiresAtMs = untilMs;
      return renewed;
    },
    finish: () => whenFree(() => store.finish(claim, now())),
    release: () => whenFree(() => store.release(claim)),
  };
}

const RETRY_PAUSE_MS = 20;

/**
 * Tries again after a pause in which the process does other things, while `mayRetry`.
 *
 * @throws {InboxError} `INBOX_TIMEOUT` when it may not any more
 */
async function retryWhileBlocked<T>(
  database: SqliteDatabase,
  step: () => T,
  mayRetry: () => boolean,
): Promise<T> {
  for (;;) {
    let cause: unknown;
    // Not within somebody's transaction: what is recorded would be undone with it.
    if (!isInTransaction(database)) {
      try {
        return step();
      } catch (error) {
        if (!isLocked(error) && !isInUse(error)) throw error;
        cause = error;
      }
    }
    if (!mayRetry()) throw stillBlocked(cause);
    await new Promise((resolve) => setTimeout(resolve, RETRY_PAUSE_MS));
  }
}

function stillBlocked(cause: unknown): InboxError {
  const blocked = isLocked(cause)
    ? 'another connection had the file locked'
    : 'a transaction or an iterate() was open on the connection';
  return new InboxError(
    'INBOX_TIMEOUT',
    `The callback's work is done, but ${blocked} until the lease had expired; nothing was recorded. Keep transactions short, and neither them nor an iterate() open across an await, or raise leaseMs`,
    { cause },
  );
}
