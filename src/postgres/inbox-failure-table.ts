import { toAsciiJson } from '../store/sql/ascii-json.js';
import { literal } from './literal.js';
import type { Queryable } from './pool.js';
import {
  maintenanceSettings,
  type OpenTransaction,
  onlyText,
  type Transactions,
} from './transactions.js';
import type { Row } from '../store/sql/runner.js';
import { toStoredName } from '../store/stored-name.js';
import type { ClaimTransaction, KeptFailure, NewFailure } from '../store/attempt.js';
import {
  assertChangeId,
  type ChangeId,
  type FailedChange,
  type FailedChangeStore,
  type FailedChangesOptions,
  resolveListOptions,
} from '../store/failed-changes.js';
import type { StoredEvent } from '../store/stored-event.js';
import { listInPages, parseJson, type StoredFailure, toFullNames } from '../store/stored-failure.js';
import type { QuotedTables, Timeouts } from './inbox-options.js';
import { asStep } from './inbox-schema.js';
import { forgetFailure, isUnprocessed } from './inbox-statements.js';

// Others hold a row's lock only for one statement.
const LOCK_TIMEOUT_MS = 1_000;
// Savepoint set after the claim and before the work.
const CLAIMED = 'merchant_payments_claimed';

type FailureTimeouts = Pick<Timeouts, 'commandTimeoutMs'>;

/** The table of failures. Each statement is its own short transaction, except in {@link FailureTable.within}. */
export class FailureTable implements FailedChangeStore {
  readonly #transactions: Transactions<Queryable>;
  readonly #tables: QuotedTables;
  readonly #timeouts: FailureTimeouts;
  readonly #keepBodies: boolean;

  constructor(
    transactions: Transactions<Queryable>,
    tables: QuotedTables,
    { keepBodies, ...timeouts }: FailureTimeouts & { readonly keepBodies: boolean },
  ) {
    this.#transactions = transactions;
    this.#tables = tables;
    this.#timeouts = timeouts;
    this.#keepBodies = keepBodies;
  }

  /** Stores a failure. Resolves with undefined if the event was processed in the meantime. */
  async keep(
    event: StoredEvent,
    names: ChangeId,
    failure: NewFailure,
  ): Promise<KeptFailure | undefined> {
    const rows = await this.#run(this.#insert(event, names, failure));
    return rows.length === 0 ? undefined : toKept(onlyText(rows));
  }

  /** Stores failures in the transaction that holds the event's claim. */
  within(
    transaction: Pick<OpenTransaction<unknown>, 'query'>,
    event: StoredEvent,
    names: ChangeId,
  ): ClaimTransaction {
    return {
      mark: () => transaction.query(`SAVEPOINT ${CLAIMED}`),
      keep: async (failure) => {
        await transaction.query(`ROLLBACK TO SAVEPOINT ${CLAIMED}`);
        return toKept(onlyText(await transaction.query(this.#insert(event, names, failure))));
      },
    };
  }

  #insert(
    event: StoredEvent,
    names: ChangeId,
    { ran, parkFrom, error, getRawBody }: NewFailure,
  ): string {
    const { events, failures } = this.#tables;
    const [reference, key] = [literal(event.reference), literal(event.key)];
    const rawBody = this.#keepBodies ? getRawBody() : undefined;
    const added = ran ? 1 : 0;
    const isParked = (attempts: string): string =>
      parkFrom === undefined ? 'false' : `${attempts} >= ${parkFrom}`;
    return `INSERT INTO ${failures} AS failure
    (payment_reference, key, full_names, occurred_at_us, attempts, first_failed_at, last_failed_at, parked, error, raw_body)
  SELECT ${reference}, ${key}, ${toLiteral(toFullNames(event, names))}, ${event.occurredAtUs}, ${added},
    statement_timestamp(), statement_timestamp(), ${isParked(`${added}`)},
    ${literal(toAsciiJson(JSON.stringify(error)))}, ${rawBody === undefined ? 'NULL' : `decode('${toHex(rawBody)}', 'hex')`}
  WHERE NOT EXISTS (SELECT FROM ${events} WHERE payment_reference = ${reference} AND key = ${key})
  ON CONFLICT (payment_reference, key) DO UPDATE SET
    attempts = failure.attempts + excluded.attempts,
    last_failed_at = excluded.last_failed_at,
    parked = failure.parked OR ${isParked('failure.attempts + excluded.attempts')},
    error = excluded.error,
    raw_body = coalesce(excluded.raw_body, failure.raw_body)
  RETURNING json_build_array(attempts, parked)::text`;
  }

  failedChanges(options?: FailedChangesOptions): AsyncIterable<FailedChange> {
    const { limit, paymentReference } = resolveListOptions(options);
    const conditions = [isUnprocessed(this.#tables.events)];
    if (paymentReference !== undefined) {
      conditions.push(`payment_reference = ${literal(toStoredName(paymentReference))}`);
    }
    return listInPages(limit, (size, last: StoredFailure | undefined) =>
      this.#readPage(last ? [...conditions, isAfter(last)] : conditions, size),
    );
  }

  async discard(change: ChangeId): Promise<boolean> {
    assertChangeId(change);
    const reference = literal(toStoredName(change.paymentReference));
    const named = { reference, key: literal(toStoredName(change.key)) };
    return (await this.#run(`${forgetFailure(this.#tables, named)} RETURNING key`)).length > 0;
  }

  async #readPage(conditions: readonly string[], size: number): Promise<readonly StoredFailure[]> {
    const page = `SELECT * FROM ${this.#tables.failures} AS failure
    WHERE ${conditions.join(' AND ')}
    ORDER BY first_failed_at, payment_reference, key LIMIT ${size}`;
    const rows = await this.#run(`SELECT coalesce(json_agg(json_build_object(
    'reference', payment_reference, 'storedKey', key, 'fullNames', full_names,
    'occurredAtUs', occurred_at_us::text, 'attempts', attempts, 'parked', parked, 'error', error,
    'firstFailedAt', ${isoTime('first_failed_at')}, 'lastFailedAt', ${isoTime('last_failed_at')},
    'rawBody', encode(raw_body, 'hex')) ORDER BY first_failed_at, payment_reference, key), '[]')::text
  FROM (${page}) AS failure`);
    return parseJson(onlyText(rows)) as readonly StoredFailure[];
  }

  #run(statement: string): Promise<readonly Row[]> {
    const running = this.#transactions.run<readonly Row[]>(async (transaction) => {
      const statements = [maintenanceSettings(LOCK_TIMEOUT_MS), statement];
      const rows = await transaction.begin(statements, this.#timeouts.commandTimeoutMs);
      return { end: 'commit', result: rows };
    });
    return asStep(running);
  }
}

function isAfter({ firstFailedAt, reference, storedKey }: StoredFailure): string {
  const cursor = [String(firstFailedAt), reference, storedKey].map(literal);
  return `(first_failed_at, payment_reference, key) > (${cursor.join(', ')})`;
}

function toKept(answer: string): KeptFailure {
  const [attempts, parked] = parseJson(answer) as [number, boolean];
  return { attempts, parked };
}

// Independent of the session's DateStyle and time zone.
function isoTime(column: string): string {
  return `to_char(${column} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"')`;
}

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
}

function toLiteral(text: string | null): string {
  return text === null ? 'NULL' : literal(toAsciiJson(text));
}
