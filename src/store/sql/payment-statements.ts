import type { Claim, DueKind, Intent, ListKind, Page, Result } from '../payment-row.js';
import { end } from '../steps.js';
import type { Dialect, Key } from './dialect.js';
import { COLUMNS, Sql } from './sql.js';

/** The states of payments that have ended. */
const ENDED = "state IN ('created', 'unheard', 'missed', 'rejected', 'elsewhere')";
/** The states of payments that wait for their first callback. */
const WAITING = "state IN ('unheard', 'missed')";

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

  /**
   * Stores and claims a new payment, in a single statement.
   *
   * @param mark a comment by which the statement is found while it waits
   */
  add({ key, owner, leaseMs }: Claim, { body, digest }: Intent, mark: string): string {
    const now = this.#dialect.now();
    return `${mark}INSERT INTO ${this.#payments}
  (merchant_payment_reference, body, digest, state, owner, lease_until_ms, attempts, recorded_at_ms, sent_at_ms, changed_at_ms)
VALUES (${this.#sql.values([key, body, digest])}, ${this.#sql.durably('sending')}, ${this.#sql.value(owner)},
  ${now} + ${leaseMs}, 1, ${now}, ${now}, ${now})${this.#dialect.ifNew}`;
  }

  /** Stores an intent as `recorded` if nothing is stored, and locks the row. */
  insert(key: string, { body, digest }: Intent): string {
    const now = this.#dialect.now();
    return `INSERT INTO ${this.#payments}
  (merchant_payment_reference, body, digest, state, attempts, recorded_at_ms, changed_at_ms)
VALUES (${this.#sql.values([key, body, digest, 'recorded', 0])}, ${now}, ${now})${this.#dialect.orLock('merchant_payment_reference')}`;
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
    return this.#sql.change(key, end(result), {
      condition: ` AND owner = ${this.#sql.value(owner)}`,
    });
  }

  /** Returns the keys, and locks their rows until the transaction ends. */
  lockExpired(limit: number): string {
    const expired = `(state = 'sending' AND lease_until_ms <= ${this.#dialect.now()})`;
    return this.#lockSome(expired, limit);
  }

  /** Like {@link lockExpired}. An order stays while a person is needed because of one of its changes or payments. */
  lockEnded(beforeMs: number, limit: number): string {
    const { failures, payments, seconds } = this.#dialect.tables;
    const isUnlisted = [failures, seconds].map(
      (table) => ` AND NOT EXISTS (SELECT 1 FROM ${table} AS listed
  WHERE listed.merchant_payment_reference = ${payments}.merchant_payment_reference)`,
    );
    const isOld = `${ENDED} AND changed_at_ms < ${beforeMs}`;
    return this.#lockSome(`${isOld}${isUnlisted.join('')}`, limit);
  }

  #lockSome(condition: string, limit: number): string {
    return `SELECT merchant_payment_reference FROM ${this.#payments}
WHERE ${condition} LIMIT ${limit}${this.#dialect.skipLocked}`;
  }

  expire(keys: readonly string[]): string {
    const set = `state = 'unresolved', changed_at_ms = ${this.#dialect.now()}`;
    return this.#dialect.updateByKey(this.#payments, set, this.#keysOf(keys));
  }

  delete(keys: readonly string[]): string {
    return this.#dialect.deleteByKey(this.#payments, this.#keysOf(keys));
  }

  #keysOf(keys: readonly string[]): readonly Key[] {
    return keys.map((key) => ({ merchant_payment_reference: this.#sql.value(key) }));
  }

  list(kind: ListKind, page: Page): string {
    // The index knows the state.
    const condition = {
      recorded: "state = 'recorded'",
      unresolved: `state IN ('unresolved', 'sending') AND lease_until_ms <= ${this.#dialect.now()}`,
      'missed-paid': "state = 'missed' AND found_status = 'paid'",
      missed: "state = 'missed' AND found_status <> 'paid'",
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
