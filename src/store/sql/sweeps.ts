import { ENDED, type RowState } from '../payment-row.js';
import type { Dialect, Key } from './dialect.js';
import type { Sql } from './sql.js';

export const CHANGE = ['merchant_payment_reference', 'reference_number', 'change_key'] as const;

/** The tables that are swept: the columns of the primary key, and a time that has an index. */
const SWEPT = {
  payments: { names: ['merchant_payment_reference'], time: 'changed_at_ms' },
  changes: { names: CHANGE, time: 'processed_at_ms' },
  // Never later than that of the last failure.
  failures: { names: CHANGE, time: 'first_failed_at_ms' },
} as const;

export type Names = readonly string[];

/** Where a batch of rows begins and ends. */
export interface Batch {
  /** The time of the last row of the batch before: it need not be sought again from the beginning. */
  readonly fromMs: number;
  readonly beforeMs: number;
  readonly limit: number;
}

/** Rows that are changed or deleted in batches. */
export interface Sweep {
  /** Locks the next rows, without waiting for others, and returns the time and names of each as a JSON list. */
  lock(batch: Batch): string;
  /** Changes the rows that are locked. */
  change(names: readonly Names[]): string;
}

/** The statements that end leases, and those of `prune`. */
export class Sweeps {
  readonly #sql: Sql;
  readonly #dialect: Dialect;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#dialect = sql.dialect;
  }

  /** Payments whose lease is over become `unresolved`. */
  get expired(): Sweep {
    const { now, updateByKey } = this.#dialect;
    const condition = `state = 'sending' AND lease_until_ms <= ${now()}`;
    const set = `state = 'unresolved', changed_at_ms = ${now()}`;
    return this.#sweep('payments', condition, (table, keys) => updateByKey(table, set, keys));
  }

  /** Orders of one attempt that have ended. They stay while a person is needed because of their changes or payments. */
  ended(state: RowState): Sweep {
    const condition = `state = '${state}' AND order_name IS NULL AND replaced_by IS NULL${this.#isUnlisted}`;
    return this.#sweep('payments', condition, this.#dialect.deleteByKey);
  }

  /** Old changes. Those of a payment with a failed one stay: when that is replayed, it must still be seen to be older. */
  get changes(): Sweep {
    const { changes, failures } = this.#dialect.tables;
    const condition = `NOT EXISTS (SELECT 1 FROM ${failures} AS failed
  WHERE failed.merchant_payment_reference = ${changes}.merchant_payment_reference AND failed.reference_number = ${changes}.reference_number)`;
    return this.#sweep('changes', condition, this.#dialect.deleteByKey);
  }

  /** The bodies of failed changes that last failed before a time. */
  bodies(beforeMs: number): Sweep {
    const condition = `last_failed_at_ms < ${beforeMs} AND raw_body IS NOT NULL`;
    return this.#sweep('failures', condition, (table, keys) =>
      this.#dialect.updateByKey(table, 'raw_body = NULL', keys),
    );
  }

  #sweep(
    name: keyof typeof SWEPT,
    condition: string,
    change: (table: string, keys: readonly Key[]) => string,
  ): Sweep {
    const { list, skipLocked, tables } = this.#dialect;
    const { names, time } = SWEPT[name];
    const table = tables[name];
    const toKey = (row: Names): Key =>
      Object.fromEntries(names.map((column, at) => [column, this.#sql.value(row[at])]));
    return {
      lock: ({ fromMs, beforeMs, limit }) =>
        `SELECT ${list([time, ...names].join(', '))} FROM ${table}
WHERE ${time} >= ${fromMs} AND ${time} < ${beforeMs} AND ${condition} ORDER BY ${time} LIMIT ${limit}${skipLocked}`,
      change: (rows) => change(table, rows.map(toKey)),
    };
  }

  /** A condition for the first rows of orders with further attempts, if they have ended before a time. */
  isReplaced(beforeMs: number): string {
    return `${this.#hasEnded(beforeMs)} AND order_name IS NULL AND replaced_by IS NOT NULL`;
  }

  /** Locks an attempt that may be deleted if the others of its order may be, and returns what has replaced it. */
  lockAttempt(key: string, beforeMs: number): string {
    const { list, skipLocked, tables } = this.#dialect;
    return `SELECT ${list('replaced_by')} FROM ${tables.payments}
WHERE ${this.#sql.match({ merchant_payment_reference: key })} AND ${this.#hasEnded(beforeMs)}${this.#isUnlisted}${skipLocked}`;
  }

  delete(keys: readonly string[]): string {
    const { deleteByKey } = this.#dialect;
    return this.#sweep('payments', '', deleteByKey).change(keys.map((key) => [key]));
  }

  #hasEnded(beforeMs: number): string {
    return `state IN (${this.#sql.values(ENDED)}) AND changed_at_ms < ${beforeMs}`;
  }

  get #isUnlisted(): string {
    const { failures, payments, seconds } = this.#dialect.tables;
    const conditions = [failures, seconds].map(
      (table) => ` AND NOT EXISTS (SELECT 1 FROM ${table} AS listed
  WHERE listed.merchant_payment_reference = ${payments}.merchant_payment_reference)`,
    );
    return conditions.join('');
  }
}
