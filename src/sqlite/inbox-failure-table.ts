import {
  type KeptFailure,
  type NewFailure,
  NOTHING_SEEN,
  type SeenFailures,
} from '../store/attempt.js';
import type { ChangeId, FailedChange } from '../store/failed-changes.js';
import { explainStep } from '../store/store-failure.js';
import {
  listInPages,
  parseJson,
  parseSeen,
  type StoredFailure,
  toFullNames,
} from '../store/stored-failure.js';
import { toStoredName } from '../store/stored-name.js';
import {
  readValue,
  runInTransaction,
  type SqliteDatabase,
  type SqliteStatement,
} from './database.js';

/** A change by its stored names. */
export interface StoredChange {
  readonly reference: string;
  readonly key: string;
  /** In epoch microseconds. */
  readonly occurredAt: number;
}

type Statements = Record<'see' | 'keep' | 'forget' | 'list', SqliteStatement>;

/** The table of failures. Times are in epoch milliseconds but for `occurred_at_us`. */
export class FailureTable {
  readonly table: string;
  /** The statements that create it if it is missing. */
  readonly createTable: string;
  readonly #database: SqliteDatabase;
  readonly #events: string;
  readonly #prepare: (sql: string) => SqliteStatement;
  #prepared: Statements | undefined;

  constructor(database: SqliteDatabase, prefix: string, prepare: (sql: string) => SqliteStatement) {
    this.#database = database;
    this.#prepare = prepare;
    this.#events = `"${prefix}events"`;
    this.table = `"${prefix}failures"`;
    this.createTable = `
      CREATE TABLE IF NOT EXISTS ${this.table} (
        reference TEXT NOT NULL,
        event_key TEXT NOT NULL,
        full_names TEXT,
        occurred_at_us INTEGER NOT NULL,
        attempts INTEGER NOT NULL,
        first_failed_at_ms INTEGER NOT NULL,
        last_failed_at_ms INTEGER NOT NULL,
        parked INTEGER NOT NULL,
        error TEXT NOT NULL,
        raw_body BLOB,
        PRIMARY KEY (reference, event_key)
      );
      CREATE INDEX IF NOT EXISTS "${prefix}failures_by_time" ON ${this.table} (first_failed_at_ms);
    `;
  }

  /** The stored failures of the change and of earlier changes of its payment. */
  see({ reference, key, occurredAt }: StoredChange): SeenFailures {
    const words = readValue(this.#statements.see.get(key, reference, key, occurredAt, key));
    return typeof words === 'string' ? parseSeen(words) : NOTHING_SEEN;
  }

  /** Stores a failure in its own transaction. Returns undefined if the event was processed in the meantime. */
  keep(
    { reference, key, occurredAt, names }: StoredChange & { readonly names: ChangeId },
    { ran, parkFrom, error }: NewFailure,
    rawBody: Uint8Array | undefined,
    nowMs: number,
  ): KeptFailure | undefined {
    const fullNames = toFullNames({ reference, key }, names);
    const added = ran ? 1 : 0;
    // A comparison with NULL never parks.
    const parkAt = parkFrom ?? null;
    const answer = runInTransaction(this.#database, () =>
      readValue(
        this.#statements.keep.get(
          ...[reference, key, fullNames, occurredAt, added, nowMs, nowMs, added, parkAt],
          ...[JSON.stringify(error), rawBody ?? null, reference, key, parkAt],
        ),
      ),
    );
    if (answer === undefined) return undefined;
    const [attempts, parked] = parseJson(answer) as [number, number];
    return { attempts, parked: parked === 1 };
  }

  /** Returns whether there was a failure. */
  forget({ reference, key }: Pick<StoredChange, 'reference' | 'key'>): boolean {
    return Number(this.#statements.forget.run(reference, key).changes) > 0;
  }

  /** Deletes failures older than the time. Returns how many. */
  prune(olderThanMs: number, atMost: number): number {
    const old = `SELECT rowid FROM ${this.table}
      WHERE first_failed_at_ms < ? AND last_failed_at_ms < ? ORDER BY first_failed_at_ms LIMIT ${atMost}`;
    const prune = this.#prepare(`DELETE FROM ${this.table} WHERE rowid IN (${old})`);
    return Number(prune.run(olderThanMs, olderThanMs).changes);
  }

  list(
    paymentReference: string | undefined,
    limit: number | undefined,
  ): AsyncGenerator<FailedChange> {
    const reference = paymentReference === undefined ? null : toStoredName(paymentReference);
    return listInPages(limit, async (size, last: StoredFailure | undefined) => {
      const after: [number, string, string] = last
        ? [Number(last.firstFailedAt), last.reference, last.storedKey]
        : [Number.MIN_SAFE_INTEGER, '', ''];
      const answer = takeStep(() => this.#statements.list.get(...after, reference, size));
      return parseJson(readValue(answer)) as readonly StoredFailure[];
    });
  }

  get #statements(): Statements {
    this.#prepared ??= {
      see: this.#prepare(`
        SELECT group_concat(CASE WHEN event_key <> ? THEN 'blocked' WHEN parked THEN 'parked' ELSE 'failed' END, ' ')
        FROM ${this.table} WHERE reference = ? AND (event_key = ?
          OR (parked AND (occurred_at_us, event_key) < (?, ?)))`),
      keep: this.#prepare(`
        INSERT INTO ${this.table} AS failure
          (reference, event_key, full_names, occurred_at_us, attempts, first_failed_at_ms,
            last_failed_at_ms, parked, error, raw_body)
        SELECT ?, ?, ?, ?, ?, ?, ?, coalesce(? >= ?, 0), ?, ?
        WHERE NOT EXISTS (SELECT 1 FROM ${this.#events} WHERE reference = ? AND event_key = ?)
        ON CONFLICT (reference, event_key) DO UPDATE SET
          attempts = attempts + excluded.attempts,
          last_failed_at_ms = excluded.last_failed_at_ms,
          parked = parked OR coalesce(attempts + excluded.attempts >= ?, 0),
          error = excluded.error,
          raw_body = coalesce(excluded.raw_body, raw_body)
        RETURNING json_array(attempts, parked)`),
      forget: this.#prepare(`DELETE FROM ${this.table} WHERE reference = ? AND event_key = ?`),
      list: this.#prepare(`
        SELECT json_group_array(json_object(
          'reference', reference, 'storedKey', event_key, 'fullNames', full_names,
          'occurredAtUs', occurred_at_us, 'attempts', attempts, 'parked', parked, 'error', error,
          'firstFailedAt', first_failed_at_ms, 'lastFailedAt', last_failed_at_ms,
          'rawBody', CASE WHEN raw_body IS NOT NULL THEN hex(raw_body) END))
        FROM (SELECT * FROM ${this.table}
          WHERE (first_failed_at_ms, reference, event_key) > (?, ?, ?) AND reference = coalesce(?, reference)
          ORDER BY first_failed_at_ms, reference, event_key LIMIT ?)`),
    };
    return this.#prepared;
  }
}

/** Runs a step and wraps its failure, as `asStep` does for promises. */
export function takeStep<Value>(step: () => Value): Value {
  try {
    return step();
  } catch (error) {
    throw explainStep(error, 'SQLite');
  }
}
