import type { ClaimTransaction, KeptFailure, NewFailure } from '../store/attempt.js';
import {
  assertChangeId,
  type ChangeId,
  type FailedChange,
  type FailedChangeStore,
  type FailedChangesOptions,
  resolveListOptions,
} from '../store/failed-changes.js';
import { toAsciiJson } from '../store/sql/ascii-json.js';
import type { StoredEvent } from '../store/stored-event.js';
import { listInPages, type StoredFailure, toFullNames } from '../store/stored-failure.js';
import { toStoredName } from '../store/stored-name.js';
import type { QuotedTables, Timeouts } from './inbox-options.js';
import { asStep } from './inbox-schema.js';
import { forgetFailure, isUnprocessed } from './inbox-statements.js';
import { literal } from './literal.js';
import type { MysqlTransactions, OpenConnection } from './mysql-transactions.js';
import { ASSERT_BEGUN, NOW_US, type SessionLimits } from './session.js';

// Savepoint set after the claim and before the work.
const CLAIMED = 'merchant_payments_claimed';

type FailureTimeouts = SessionLimits & Pick<Timeouts, 'commandTimeoutMs'>;

interface FailureTableOptions extends FailureTimeouts {
  readonly keepBodies: boolean;
}

/** The table of failures. Each call is its own short transaction, except in {@link FailureTable.within}. */
export class FailureTable implements FailedChangeStore {
  readonly #transactions: MysqlTransactions<unknown>;
  readonly #tables: QuotedTables;
  readonly #timeouts: FailureTimeouts;
  readonly #keepBodies: boolean;

  constructor(
    transactions: MysqlTransactions<unknown>,
    tables: QuotedTables,
    { keepBodies, ...timeouts }: FailureTableOptions,
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
    return toKept(await this.#ask([this.#insert(event, names, failure), this.#selectKept(event)]));
  }

  /** Stores failures in the transaction that holds the event's claim. */
  within(
    connection: Pick<OpenConnection<unknown>, 'ask'>,
    event: StoredEvent,
    names: ChangeId,
  ): ClaimTransaction {
    const ask = (statement: string) => connection.ask(statement, this.#timeouts.commandTimeoutMs);
    return {
      mark: () => ask(`SAVEPOINT ${CLAIMED}`),
      keep: async (failure) => {
        await ask(`ROLLBACK TO SAVEPOINT ${CLAIMED}`);
        await ask(this.#insert(event, names, failure));
        return toKept(await ask(this.#selectKept(event)));
      },
    };
  }

  #selectKept(event: StoredEvent): string {
    const { events, failures } = this.#tables;
    return `SELECT CONCAT(attempts, ' ', parked) FROM ${failures} AS failure WHERE ${named(event)} AND ${isUnprocessed(events)}`;
  }

  #insert(
    event: StoredEvent,
    names: ChangeId,
    { ran, parkFrom, error, getRawBody }: NewFailure,
  ): string {
    const { events, failures } = this.#tables;
    const rawBody = this.#keepBodies ? toHex(getRawBody()) : 'NULL';
    const text = literal(toAsciiJson(JSON.stringify(error)));
    const fullNames = toFullNames(event, names);
    const added = ran ? 1 : 0;
    const isParked = (attempts: string): string =>
      parkFrom === undefined ? 'FALSE' : `${attempts} >= ${parkFrom}`;
    // Assignments take effect from left to right, except with SIMULTANEOUS_ASSIGNMENT of MariaDB: the order
    // below is right for both.
    return `INSERT INTO ${failures}
    (payment_reference, event_key, full_names, occurred_at_us, attempts, first_failed_at_us, last_failed_at_us, parked, error, raw_body)
  SELECT ${literal(event.reference)}, ${literal(event.key)}, ${fullNames === null ? 'NULL' : literal(toAsciiJson(fullNames))}, ${event.occurredAtUs},
    ${added}, ${NOW_US}, ${NOW_US}, ${isParked(String(added))}, ${text}, ${rawBody} FROM DUAL
  WHERE NOT EXISTS (SELECT 1 FROM ${events} WHERE ${named(event)})
  ON DUPLICATE KEY UPDATE
    parked = parked OR ${isParked(`attempts + ${added}`)},
    attempts = attempts + ${added},
    last_failed_at_us = ${NOW_US},
    error = ${text},
    raw_body = COALESCE(${rawBody}, raw_body)`;
  }

  failedChanges(options?: FailedChangesOptions): AsyncIterable<FailedChange> {
    const { limit, paymentReference } = resolveListOptions(options);
    const conditions = [isUnprocessed(this.#tables.events)];
    if (paymentReference !== undefined) {
      conditions.push(`payment_reference = ${literal(toStoredName(paymentReference))}`);
    }
    return listInPages(limit, async (size, last: FailureRow | undefined) => {
      const after = last ? [...conditions, isAfter(last)] : conditions;
      return (await this.#ask([this.#selectPage(after, size)])).map(parseRow);
    });
  }

  async discard(change: ChangeId): Promise<boolean> {
    assertChangeId(change);
    const stored = {
      reference: toStoredName(change.paymentReference),
      key: toStoredName(change.key),
    };
    // Runs both statements in this order, and returns the rows of the first.
    const [found] = await this.#ask(
      [`SELECT 'kept' FROM ${this.#tables.failures} WHERE ${named(stored)} FOR UPDATE`],
      forgetFailure(this.#tables, {
        reference: literal(stored.reference),
        key: literal(stored.key),
      }),
    );
    return found !== undefined;
  }

  #selectPage(conditions: readonly string[], size: number): string {
    return `SELECT CONCAT_WS(' ', payment_reference, event_key, occurred_at_us, attempts, parked,
    first_failed_at_us, last_failed_at_us, HEX(error), COALESCE(HEX(full_names), '-'), COALESCE(HEX(raw_body), '-'))
  FROM ${this.#tables.failures} AS failure WHERE ${conditions.join(' AND ')}
  ORDER BY first_failed_at_us, payment_reference, event_key LIMIT ${size}`;
  }

  /** Resolves with the rows of the last of `statements`. `toFollow` runs after them, with the commit. */
  #ask(statements: readonly string[], ...toFollow: string[]): Promise<readonly string[]> {
    const asking = this.#transactions.run<readonly string[]>(async (connection) => {
      const { commandTimeoutMs } = this.#timeouts;
      await connection.begin(this.#timeouts, commandTimeoutMs);
      let result: readonly string[] = [];
      for (const statement of statements)
        result = await connection.ask(statement, commandTimeoutMs);
      return { end: 'commit', result, statements: [...toFollow, ASSERT_BEGUN] };
    });
    return asStep(asking);
  }
}

function named({ reference, key }: Pick<StoredEvent, 'reference' | 'key'>): string {
  return `payment_reference = ${literal(reference)} AND event_key = ${literal(key)}`;
}

/** A failure with the exact time by which the list is ordered. */
interface FailureRow extends StoredFailure {
  readonly firstFailedAtUs: string;
}

function isAfter({ firstFailedAtUs, reference, storedKey }: FailureRow): string {
  const cursor = `${firstFailedAtUs}, ${literal(reference)}, ${literal(storedKey)}`;
  return `(first_failed_at_us, payment_reference, event_key) > (${cursor})`;
}

// The order in which FailureTable selects them.
type FailureColumns = [
  reference: string,
  storedKey: string,
  occurredAtUs: string,
  attempts: string,
  parked: string,
  first: string,
  last: string,
  error: string,
  fullNames: string,
  rawBody: string,
];

// Stored names contain no spaces.
function parseRow(row: string): FailureRow {
  const columns = row.split(' ') as FailureColumns;
  const [reference, storedKey, occurredAtUs, attempts, parked, ...rest] = columns;
  const [first, last, error, fullNames, rawBody] = rest;
  return {
    reference,
    storedKey,
    occurredAtUs,
    attempts: Number(attempts),
    parked: parked === '1',
    firstFailedAt: Math.floor(Number(first) / 1000),
    lastFailedAt: Math.floor(Number(last) / 1000),
    error: fromHex(error),
    fullNames: fullNames === '-' ? null : fromHex(fullNames),
    rawBody: rawBody === '-' ? null : rawBody,
    firstFailedAtUs: first,
  };
}

function fromHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('latin1');
}

function toHex(bytes: Uint8Array | undefined): string {
  if (bytes === undefined) return 'NULL';
  return `X'${Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')}'`;
}

function toKept([row]: readonly string[]): KeptFailure | undefined {
  const [attempts, parked] = row?.split(' ') ?? [];
  return attempts === undefined
    ? undefined
    : { attempts: Number(attempts), parked: parked === '1' };
}
