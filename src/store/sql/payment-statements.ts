import {
  type Claim,
  type DueKind,
  FOUND_PAID,
  type Intent,
  type ListKind,
  type Page,
  type Result,
  type RowState,
} from '../payment-row.js';
import { end } from '../steps.js';
import type { Dialect, Key } from './dialect.js';
import { COLUMNS, Sql } from './sql.js';

/** The states of payments that have ended. */
export const ENDED: readonly RowState[] = ['created', 'unheard', 'missed', 'rejected', 'elsewhere'];
/** The states of payments that wait for their first callback. */
const WAITING = "state IN ('unheard', 'missed')";

const ORDERS = { time: 'changed_at_ms', names: ['merchant_payment_reference'] } as const;

/** Where a batch of rows begins and ends. */
export interface Batch {
  /** The time of the last row of the batch before: it need not be sought again from the beginning. */
  readonly fromMs: number;
  readonly beforeMs: number;
  readonly limit: number;
}

interface Batched {
  readonly table: string;
  /** The column of a time, by which an index orders the rows of the condition. */
  readonly time: string;
  /** The columns that name a row. */
  readonly names: Names;
  readonly condition: string;
}

/** The columns of a row's primary key. */
export type Names = readonly string[];

/** Locks the next rows, without waiting for others, and returns the time and names of each as a JSON list. */
export function lockBatch(
  { list, skipLocked }: Dialect,
  { table, time, names, condition }: Batched,
  { fromMs, beforeMs, limit }: Batch,
): string {
  return `SELECT ${list([time, ...names].join(', '))} FROM ${table}
WHERE ${time} >= ${fromMs} AND ${time} < ${beforeMs} AND ${condition} ORDER BY ${time} LIMIT ${limit}${skipLocked}`;
}

/**
 * The statements about payments, for every engine. A SELECT returns one text in each row, and no other statement
 * returns rows.
 */
export class PaymentStatements {
  readonly #sql: Sql;
  readonly #dialect: Dialect;
  readonly #payments: string;

  constructor(dialect: Dialect) {
    this.#sql = new Sql(dialect);
    this.#dialect = dialect;
    this.#payments = dialect.tables.payments;
  }

  /** Stores and claims a new payment, in a single statement. */
  add({ key, owner, leaseMs }: Claim, { body, digest }: Intent): string {
    const now = this.#dialect.now();
    return `INSERT INTO ${this.#payments}
  (merchant_payment_reference, body, digest, state, owner, lease_until_ms, attempts, recorded_at_ms, sent_at_ms, changed_at_ms)
VALUES (${this.#sql.values([key, body, digest, 'sending', owner])}, ${now} + ${leaseMs}, 1, ${now}, ${now}, ${now})${this.#dialect.ifNew}`;
  }

  /**
   * Stores an intent as `recorded` if nothing is stored, and locks the row.
   *
   * @param order JSON of the order's first reference, of a later attempt
   */
  insert(key: string, { body, digest }: Intent, order?: string): string {
    const now = this.#dialect.now();
    return `INSERT INTO ${this.#payments}
  (merchant_payment_reference, body, digest, state, attempts, order_name, recorded_at_ms, changed_at_ms)
VALUES (${this.#sql.values([key, body, digest, 'recorded', 0, order])}, ${now}, ${now})${this.#dialect.orLock('merchant_payment_reference')}`;
  }

  /** Returns the row. */
  read(key: string): string {
    return `SELECT ${this.#row} FROM ${this.#payments} WHERE ${this.#sql.match({ merchant_payment_reference: key })}`;
  }

  /** Returns the current row, and locks it until the transaction ends. */
  lock(key: string): string {
    return `${this.read(key)}${this.#dialect.forUpdate}`;
  }

  /** Stores the end of an attempt in a single statement, if the payment still has this owner. */
  finish(key: string, owner: string, result: Result): string {
    return this.#sql.change(key, end(result), ` AND owner = ${this.#sql.value(owner)}`);
  }

  /** Locks a batch of payments whose lease is over: see {@link lockBatch}. */
  lockExpired(batch: Batch): string {
    const { now, tables } = this.#dialect;
    const isExpired = `state = 'sending' AND lease_until_ms <= ${now()}`;
    return lockBatch(
      this.#dialect,
      { ...ORDERS, table: tables.payments, condition: isExpired },
      batch,
    );
  }

  /** The same for orders that have ended. An order stays while a person is needed because of its changes or payments. */
  lockEnded(state: RowState, batch: Batch): string {
    const isSingle = 'order_name IS NULL AND replaced_by IS NULL';
    const condition = `state = '${state}' AND ${isSingle}${this.#isUnlisted}`;
    return lockBatch(this.#dialect, { ...ORDERS, table: this.#payments, condition }, batch);
  }

  /** Lists the first rows of orders with further attempts, if they have ended before a time. */
  listReplaced(page: Page, beforeMs: number): string {
    const condition = `state IN (${this.#sql.values(ENDED)}) AND changed_at_ms < ${beforeMs} AND order_name IS NULL AND replaced_by IS NOT NULL`;
    return `SELECT ${this.#row} FROM ${this.#payments}
WHERE ${condition}${pageOf(this.#sql, page, ['changed_at_ms', 'merchant_payment_reference'])}`;
  }

  /** Locks an attempt that may be deleted if the others of its order may be, and returns what has replaced it. */
  lockAttempt(key: string, beforeMs: number): string {
    const isOne = this.#sql.match({ merchant_payment_reference: key });
    const hasEnded = `state IN (${this.#sql.values(ENDED)}) AND changed_at_ms < ${beforeMs}`;
    return `SELECT ${this.#dialect.list('replaced_by')} FROM ${this.#payments}
WHERE ${isOne} AND ${hasEnded}${this.#isUnlisted}${this.#dialect.skipLocked}`;
  }

  get #isUnlisted(): string {
    const { failures, payments, seconds } = this.#dialect.tables;
    const conditions = [failures, seconds].map(
      (table) => ` AND NOT EXISTS (SELECT 1 FROM ${table} AS listed
  WHERE listed.merchant_payment_reference = ${payments}.merchant_payment_reference)`,
    );
    return conditions.join('');
  }

  expire(names: readonly Names[]): string {
    const set = `state = 'unresolved', changed_at_ms = ${this.#dialect.now()}`;
    return this.#dialect.updateByKey(this.#payments, set, this.#keysOf(names));
  }

  delete(names: readonly Names[]): string {
    return this.#dialect.deleteByKey(this.#payments, this.#keysOf(names));
  }

  #keysOf(names: readonly Names[]): readonly Key[] {
    return names.map(([key]) => ({ merchant_payment_reference: this.#sql.value(key) }));
  }

  list(kind: ListKind, page: Page): string {
    const paid = this.#sql.value(FOUND_PAID);
    // The index knows the state.
    const condition = {
      recorded: "state = 'recorded'",
      unresolved: `state IN ('unresolved', 'sending') AND lease_until_ms <= ${this.#dialect.now()}`,
      'missed-paid': `state = 'missed' AND found_status = ${paid}`,
      missed: `state = 'missed' AND found_status <> ${paid}`,
      unheard: "state = 'unheard'",
    }[kind];
    const time = kind === 'unresolved' ? 'sent_at_ms' : 'changed_at_ms';
    return this.#listed(condition, page, time);
  }

  listDue(kind: DueKind, lifetimeMs: number, page: Omit<Page, 'olderThanMs'>): string {
    const now = this.#dialect.now();
    const condition = {
      unresolved: `(state = 'unresolved' OR (state = 'sending' AND lease_until_ms <= ${now}))`,
      waiting: `${WAITING} AND sent_at_ms <= ${now} - ${lifetimeMs}`,
    }[kind];
    const isDue = `${condition} AND (look_at_ms IS NULL OR look_at_ms <= ${now})`;
    return this.#listed(isDue, { ...page, olderThanMs: 0 }, 'sent_at_ms');
  }

  #listed(condition: string, page: Page, time: 'sent_at_ms' | 'changed_at_ms'): string {
    return `SELECT ${this.#row} FROM ${this.#payments}
WHERE ${condition}${pageOf(this.#sql, page, [time, 'merchant_payment_reference'])}`;
  }

  /** A row, and the time, as `parseOwnedRow` reads it. */
  get #row(): string {
    const columns = Object.values(COLUMNS).join(', ');
    return this.#dialect.list(`merchant_payment_reference, ${columns}, ${this.#dialect.now()}`);
  }
}

/** Ends a SELECT that lists a page, ordered by a time and names. */
export function pageOf(
  sql: Sql,
  { olderThanMs, after, limit }: Page,
  columns: readonly [time: string, ...names: string[]],
): string {
  const [time] = columns;
  const order = columns.join(', ');
  const isOld = olderThanMs === 0 ? '' : ` AND ${time} <= ${sql.dialect.now()} - ${olderThanMs}`;
  return `${isOld}${after ? ` AND (${order}) > (${sql.values([after.atMs, ...after.names])})` : ''}
ORDER BY ${order} LIMIT ${limit}`;
}
