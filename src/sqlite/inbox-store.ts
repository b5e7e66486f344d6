import { InvalidOptionError, StoreError } from '../errors.js';
import type { SeenFailures } from '../store/attempt.js';
import { type ClaimAnswer, isClaimAnswer, isClaimed } from '../store/lease/lease.js';
import {
  readValue,
  runInTransaction,
  type SqliteDatabase,
  type SqliteStatement,
  waitWhileLocked,
} from './database.js';
import { FailureTable, type StoredChange } from './inbox-failure-table.js';

/** A claim on a payment for one of its changes. */
export interface StoredClaim extends StoredChange {
  /** The fencing token, unique to this claim. */
  readonly owner: string;
}

/** How many payments one call deletes: deletion blocks the process. */
const PRUNED_AT_ONCE = 5_000;

type Statements = Record<
  'check' | 'clamp' | 'claim' | 'renew' | 'finish' | 'remember' | 'release' | 'forgetNew',
  SqliteStatement
>;

/**
 * The tables of payments and events. Every method is one short transaction or one statement; none leaves a
 * transaction open, because the merchant uses the connection too. Times are in epoch milliseconds.
 */
export class SqliteStore {
  readonly #database: SqliteDatabase;
  readonly #payments: string;
  readonly #events: string;
  readonly #byChange: string;
  /** The table of failures. A failure is deleted when its event is processed. */
  readonly failures: FailureTable;
  #prepared: Statements | undefined;

  constructor(database: SqliteDatabase, prefix: string) {
    this.#database = database;
    this.#payments = `"${prefix}payments"`;
    this.#events = `"${prefix}events"`;
    this.#byChange = `"${prefix}payments_by_change"`;
    this.failures = new FailureTable(database, prefix, (sql) => this.#prepare(sql));
  }

  createTables(): void {
    const create = `
      CREATE TABLE IF NOT EXISTS ${this.#payments} (
        reference TEXT PRIMARY KEY,
        watermark INTEGER,
        owner TEXT,
        owner_event_key TEXT,
        owner_until_ms INTEGER,
        owner_lease_ms INTEGER,
        changed_at_ms INTEGER NOT NULL
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS ${this.#events} (
        reference TEXT NOT NULL,
        event_key TEXT NOT NULL,
        PRIMARY KEY (reference, event_key)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS ${this.#byChange} ON ${this.#payments} (changed_at_ms);
      ${this.failures.createTable}
    `;
    // Several processes may start at the same time.
    waitWhileLocked(() => this.#database.exec(create));
  }

  /** The answer that a claim would get. Takes no write lock. */
  check(event: StoredChange, processStale: boolean, nowMs: number): ClaimAnswer {
    const { reference, key, occurredAt } = event;
    // NULL is never less than the watermark, so the event is not refused as stale.
    const refusable = processStale ? null : occurredAt;
    const { check } = this.#statements;
    const row = check.get(reference, key, refusable, nowMs, nowMs, occurredAt, reference);
    return toClaimAnswer(row);
  }

  /**
   * Claims the event if it may run. Calls `begin` first, with the stored failures; if that throws, nothing is
   * claimed.
   */
  claim(
    claim: StoredClaim,
    {
      processStale,
      leaseMs,
      now,
      begin,
    }: {
      processStale: boolean;
      leaseMs: number;
      now: () => number;
      begin: (seen: SeenFailures) => void;
    },
  ): ClaimAnswer {
    return runInTransaction(this.#database, () => {
      // Read the clock here, because the driver may have waited for the write lock.
      const nowMs = now();
      this.#statements.clamp.run(nowMs, claim.reference, nowMs);
      const answer = this.check(claim, processStale, nowMs);
      if (isClaimed(answer)) {
        begin(this.failures.see(claim));
        const { reference, owner, key } = claim;
        this.#statements.claim.run(reference, owner, key, nowMs + leaseMs, leaseMs, nowMs);
      }
      return answer;
    });
  }

  /** Returns false if another owner holds the claim. */
  renew({ reference, owner }: StoredClaim, untilMs: number): boolean {
    // In its own transaction, because a rollback of the merchant's would undo it.
    return runInTransaction(this.#database, () =>
      hasChanged(this.#statements.renew.run(untilMs, reference, owner)),
    );
  }

  /** Records the event as processed. Returns false if another owner holds the claim. */
  finish({ reference, key, occurredAt, owner }: StoredClaim, nowMs: number): boolean {
    return runInTransaction(this.#database, () => {
      const { finish, remember } = this.#statements;
      if (!hasChanged(finish.run(occurredAt, occurredAt, nowMs, reference, owner))) return false;
      remember.run(reference, key);
      this.failures.forget({ reference, key });
      return true;
    });
  }

  /** Releases the claim, and deletes the payment if none of its changes was processed. */
  release({ reference, owner }: StoredClaim): void {
    runInTransaction(this.#database, () => {
      this.#statements.forgetNew.run(reference, owner);
      this.#statements.release.run(reference, owner);
    });
  }

  /**
   * Deletes the oldest payments that last changed before a time, except those being processed, and the
   * changes that last failed before it. Returns how many events and failed changes.
   */
  prune(olderThanMs: number, nowMs: number): number {
    const oldest = `SELECT reference FROM ${this.#payments}
      WHERE changed_at_ms < ? AND (owner IS NULL OR owner_until_ms <= ?)
      ORDER BY changed_at_ms, reference LIMIT ${PRUNED_AT_ONCE}`;
    return runInTransaction(this.#database, () => {
      const [events] = [this.#events, this.#payments].map((table) =>
        this.#prepare(`DELETE FROM ${table} WHERE reference IN (${oldest})`).run(
          olderThanMs,
          nowMs,
        ),
      );
      return Number(events?.changes) + this.failures.prune(olderThanMs, PRUNED_AT_ONCE);
    });
  }

  get #statements(): Statements {
    this.#prepared ??= this.#prepareAll();
    return this.#prepared;
  }

  #prepareAll(): Statements {
    const mine = 'WHERE reference = ? AND owner = ?';
    const free =
      'owner = NULL, owner_event_key = NULL, owner_until_ms = NULL, owner_lease_ms = NULL';
    return {
      check: this.#prepare(`
        SELECT CASE
          WHEN EXISTS (SELECT 1 FROM ${this.#events} WHERE reference = ? AND event_key = ?)
            THEN 'duplicate'
          WHEN ? < watermark THEN 'stale'
          WHEN owner_until_ms > ? AND owner_until_ms <= ? + owner_lease_ms THEN 'busy'
          WHEN ? < watermark THEN 'claimed-stale'
          ELSE 'claimed'
        END
        FROM (SELECT 1) LEFT JOIN ${this.#payments} ON reference = ?`),
      // For a clock that stepped back: a claim never has more left than its duration. It does not
      // count as expired, because its holder may still be alive, and then renews it.
      clamp: this.#prepare(`
        UPDATE ${this.#payments} SET owner_until_ms = ? + owner_lease_ms
        WHERE reference = ? AND owner_until_ms > ? + owner_lease_ms`),
      claim: this.#prepare(`
        INSERT INTO ${this.#payments}
          (reference, owner, owner_event_key, owner_until_ms, owner_lease_ms, changed_at_ms)
        VALUES (?, ?, ?, ?, ?, ?)
        ON CONFLICT (reference) DO UPDATE SET
          owner = excluded.owner,
          owner_event_key = excluded.owner_event_key,
          owner_until_ms = excluded.owner_until_ms,
          owner_lease_ms = excluded.owner_lease_ms`),
      renew: this.#prepare(`UPDATE ${this.#payments} SET owner_until_ms = ? ${mine}`),
      finish: this.#prepare(`
        UPDATE ${this.#payments}
        SET watermark = max(coalesce(watermark, ?), ?), changed_at_ms = ?, ${free} ${mine}`),
      remember: this.#prepare(`INSERT OR IGNORE INTO ${this.#events} VALUES (?, ?)`),
      release: this.#prepare(`UPDATE ${this.#payments} SET ${free} ${mine}`),
      forgetNew: this.#prepare(`DELETE FROM ${this.#payments} ${mine} AND watermark IS NULL`),
    };
  }

  #prepare(sql: string): SqliteStatement {
    try {
      return this.#database.prepare(sql);
    } catch (error) {
      // SQLite has no error code for a missing table.
      if (this.#hasTables()) throw error;
      throw new StoreError(
        'MISSING_TABLES',
        `A table of the inbox (${this.#names.join(', ')}) is missing; call setup() of the inbox once before its first callback`,
        { cause: error },
      );
    }
  }

  #hasTables(): boolean {
    const names = this.#names.map((name) => `'${name.slice(1, -1)}'`).join();
    const count = `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name COLLATE NOCASE IN (${names})`;
    return Number(readValue(this.#database.prepare(count).get())) === this.#names.length;
  }

  get #names(): readonly string[] {
    return [this.#payments, this.#events, this.failures.table];
  }
}

function toClaimAnswer(row: unknown): ClaimAnswer {
  const answer = readValue(row);
  if (isClaimAnswer(answer)) return answer;
  throw new InvalidOptionError(
    'database',
    'database must answer a query with its first row at once; received something else: use a DatabaseSync of node:sqlite or a Database of better-sqlite3',
  );
}

function hasChanged({ changes }: { changes: number | bigint }): boolean {
  return Number(changes) > 0;
}
