import { randomUUID } from 'node:crypto';
import { StoreError } from '../errors.js';
import {
  boolean,
  clock,
  date,
  type OptionRules,
  resolveOptions,
  timerMs,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import { Attempt, type SeenFailures } from '../store/attempt.js';
import { assertChangeId, resolveListOptions } from '../store/failed-changes.js';
import {
  assertNamed,
  type FailureKeepingInbox,
  type InboxEvent,
  toEpochMicroseconds,
} from '../store/inbox.js';
import { type ClaimAnswer, isClaimed, type Lease, runUnderLease } from '../store/lease/lease.js';
import { sqliteTablePrefix } from '../store/sql/table-prefix.js';
import { createStep, deliverAsStep } from '../store/store-failure.js';
import { toStoredName } from '../store/stored-name.js';
import {
  assertDatabase,
  assertNoTransaction,
  isInTransaction,
  isInUse,
  isLocked,
  type SqliteDatabase,
  whenFree,
} from './database.js';
import { takeStep } from './inbox-failure-table.js';
import { SqliteStore, type StoredClaim } from './inbox-store.js';

/** An inbox in SQLite. */
export interface SqliteInbox extends FailureKeepingInbox {
  /**
   * Creates missing tables and indexes. Call it once, before you use the inbox. While another connection
   * has the file locked, it waits for at most 5 s, which blocks the process.
   *
   * @throws {StoreError} `STORE_FAILED`
   */
  setup(): void;
  /**
   * Deletes the payments that last changed before `olderThan`, except those being processed. One call
   * deletes the 5,000 oldest, because it blocks the process: call it until it returns 0, and yield to the event
   * loop in between. A later callback for a deleted payment is processed again, so keep payments
   * for longer than the service retries. Also deletes failed changes that last failed before `olderThan`, parked
   * ones and stored bodies included, 5,000 per call.
   *
   * @returns how many processed and failed changes were deleted
   * @throws {InvalidOptionError} when `olderThan` is not a valid Date
   * @throws {StoreError} `MISSING_TABLES`, `STORE_FAILED`
   */
  prune(olderThan: Date): number;
}

/**
 * An inbox in a SQLite file, for the processes of one machine: durable, and at least once (interface
 * section 6). If a process dies, its claim expires after `leaseMs` and the next delivery
 * runs `work` again. `work` runs outside any transaction of the inbox, so its writes are not rolled back
 * if recording the event fails.
 *
 * The inbox sets `PRAGMA synchronous = FULL` on the connection at its first write, unless that is OFF or EXTRA:
 * with NORMAL, which better-sqlite3 uses in WAL mode, a power cut loses acknowledged callbacks. It changes no other
 * setting. WAL is recommended (`PRAGMA journal_mode = WAL`), because readers then don't block the inbox. If
 * another connection has the file locked, an arriving callback is `busy`; at the end of the work the inbox
 * retries, without blocking, until the lease expires. The connection's own busy timeout (better-sqlite3: 5 s)
 * does block the process; it may be short. The connection may be the one that your code uses, as long as no
 * transaction on it stays open across an `await`. An unfinished `iterate()` of better-sqlite3 on the connection
 * counts as a lock, and so does an open transaction with node:sqlite before Node 22.16.
 *
 * While a change of a payment is being processed, every callback for that payment that is neither
 * `duplicate` nor `stale` is `busy`.
 *
 * `process` rejects with an `StoreError`: `LEASE_LOST` when another process took over, `TRANSACTION_LOST` when a
 * transaction was open on the connection as the work returned,
 * `STORE_TIMEOUT` when the file stayed locked until the lease had expired, `MISSING_TABLES` before
 * `setup()`, `STORE_FAILED` when SQLite or the driver fails; with an `InvalidOptionError` when the
 * connection is in a transaction; and with what `work` throws.
 *
 * @param database - a `DatabaseSync` of node:sqlite or a `Database` of better-sqlite3; not closed
 * by the inbox
 * @throws {InvalidOptionError} when the database or an option is invalid
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
  const { prefix, leaseMs, renewForMs, keepBodies, now } = resolveOptions(
    options,
    sqliteInboxRules,
  );
  const store = new SqliteStore(database, prefix);

  return {
    async process(event, work) {
      const claim = toClaim(event);
      const { key, paymentReference, processStale } = event;
      const change = { ...claim, names: { key, paymentReference } };
      let patienceMs = KEEP_PATIENCE_MS;
      const runAlone = async (running: Promise<void>): Promise<void> => {
        await running;
        if (!isInTransaction(database)) return;
        // The code that has left it open has returned, so that waiting would not end it.
        patienceMs = 0;
        throw leftOpen();
      };
      const attempt = new Attempt(event, (failure) => {
        const rawBody = keepBodies ? failure.getRawBody() : undefined;
        const untilMs = performance.now() + patienceMs;
        const keeping = whenFree(
          database,
          () => store.failures.keep(change, failure, rawBody, now()),
          () => performance.now() < untilMs,
          (blocker, cause) => notKept(blocker, cause, patienceMs),
        );
        return asStep(keeping);
      });
      const lease = createLease({ database, store, claim, leaseMs, renewForMs, now });
      return deliverAsStep(asStep, work, (watched) =>
        attempt.run(async () => {
          const begin = (seen: SeenFailures) => attempt.begin(seen);
          const found = claimUnlessBlocked(() => lease.claim(processStale, begin));
          if (!isClaimed(found)) return found;
          const stale = found === 'claimed-stale';
          return runUnderLease(lease, (signal) =>
            // Stored before the claim is released: with blockParked, a later change must see this one.
            runAlone(watched({ tx: undefined, signal, stale })).catch(async (error) => {
              await attempt.failed(error);
              throw error;
            }),
          );
        }),
      );
    },
    keepsBodies: keepBodies,
    failedChanges(listed) {
      const { limit, paymentReference } = resolveListOptions(listed);
      return store.failures.list(paymentReference, limit);
    },
    async discard(change) {
      assertChangeId(change);
      assertNoTransaction(database);
      const reference = toStoredName(change.paymentReference);
      const key = toStoredName(change.key);
      return takeStep(() => store.failures.forget({ reference, key }));
    },
    setup: () => takeStep(() => store.createTables()),
    prune(olderThan) {
      const olderThanMs = date(olderThan, 'olderThan').getTime();
      assertNoTransaction(database);
      return takeStep(() => store.prune(olderThanMs, now()));
    },
  };
}

const asStep = /* @__PURE__ */ createStep('SQLite', (error) => error);

function toClaim(event: InboxEvent): StoredClaim {
  assertNamed(event);
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
  claim(processStale: boolean, begin: (seen: SeenFailures) => void): ClaimAnswer;
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
  const whileLeased = <T>(step: () => T): Promise<T> =>
    whenFree(database, step, () => now() < expiresAtMs, notRecorded);

  return {
    durationMs: leaseMs,
    renewForMs,
    askedAtMs: performance.now(),
    claim(processStale, begin) {
      assertNoTransaction(database);
      // Check before taking the write lock, which most duplicates don't need.
      const found = store.check(claim, processStale, now());
      if (!isClaimed(found)) return found;
      const answer = store.claim(claim, { processStale, leaseMs, now, begin });
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
    finish: () => whileLeased(() => store.finish(claim, now())),
    async release() {
      const releasing = whileLeased(() => store.release(claim));
      // An open transaction may last longer than the lease, which expires by itself.
      if (isInTransaction(database)) releasing.catch(() => undefined);
      else await releasing;
    },
  };
}

// The callback has already failed, and its answer waits for this.
const KEEP_PATIENCE_MS = 2_000;

const REMEDY = 'Keep transactions short, and keep no transaction or iterate() open across an await';

function leftOpen(): StoreError {
  return new StoreError(
    'TRANSACTION_LOST',
    'A transaction was open on the connection of the inbox when the work returned; nothing was recorded, and a later delivery runs the work again. The transaction is still open, and the inbox neither commits it nor rolls it back: end it before the work returns, also when a statement fails, or give the inbox its own connection',
  );
}

function notRecorded(blocker: string, cause: unknown): StoreError {
  return new StoreError(
    'STORE_TIMEOUT',
    `The callback's work is done, but ${blocker} until the lease had expired; nothing was recorded. ${REMEDY}, or raise leaseMs`,
    { cause },
  );
}

function notKept(blocker: string, cause: unknown, patienceMs: number): StoreError {
  const forSeconds = patienceMs === 0 ? '' : ` for ${patienceMs / 1_000} s`;
  return new StoreError(
    'STORE_TIMEOUT',
    `The failure of the change could not be stored: ${blocker}${forSeconds}. ${REMEDY}`,
    { cause },
  );
}

/** Options of `sqliteInbox`. */
export interface SqliteInboxOptions {
  /**
   * The prefix of the tables (`payments`, `events`, `failures`) and their indexes: 1 to 40 ASCII
   * letters, digits and underscores, starting neither with a digit nor with `sqlite_`.
   * @default 'payment_inbox_'
   */
  prefix?: string | undefined;
  /**
   * The lifetime of a claim that is not renewed, in milliseconds: how long a payment stays `busy`
   * after the process that holds it died. The claim is renewed while the work runs. A whole number from 100 to
   * 2_147_483_647.
   * @default 30_000
   */
  leaseMs?: number | undefined;
  /**
   * The longest time for which a claim is renewed, in milliseconds. Work that takes longer counts as hung:
   * its signal aborts, and the claim expires within `leaseMs`. A whole number from 1.
   * @default 600_000
   */
  renewForMs?: number | undefined;
  /**
   * Whether the body of a failed change is stored as received, so that the change can be replayed. It is
   * personal data: make sure that `prune()` runs.
   * @default false
   */
  keepBodies?: boolean | undefined;
  /**
   * The clock, in epoch milliseconds. Processes that share the file must share the clock.
   * @default Date.now
   */
  now?: (() => number) | undefined;
}

/** One rule for each option. */
export const sqliteInboxRules = {
  prefix: withDefault('payment_inbox_', sqliteTablePrefix),
  leaseMs: withDefault(30_000, timerMs(100)),
  renewForMs: withDefault(600_000, wholeNumber({ min: 1, unit: 'milliseconds' })),
  keepBodies: withDefault(false, boolean),
  now: clock,
} satisfies OptionRules<SqliteInboxOptions>;
