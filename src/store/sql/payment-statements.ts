import {
  type Claim,
  type DueKind,
  FOUND_PAID,
  type Intent,
  type ListKind,
  type Page,
  type Result,
} from '../payment-row.js';
import type { KeyedRow, PaymentRows, Step } from '../payment-steps.js';
import { end, type RowChange } from '../steps.js';
import type { Dialect } from './dialect.js';
import { parseOwnedRow } from './rows.js';
import { COLUMNS, databaseForms, type Sql } from './sql.js';

/** The states of payments that wait for their first callback. */
const WAITING = "state IN ('unheard', 'missed')";

/** The statements about payments, for every engine. A SELECT returns one text in each row, and nothing else does. */
export class PaymentStatements implements PaymentRows {
  readonly forms = databaseForms;
  readonly #sql: Sql;
  readonly #dialect: Dialect;
  readonly #payments: string;

  constructor(sql: Sql) {
    this.#sql = sql;
    this.#dialect = sql.dialect;
    this.#payments = sql.dialect.tables.payments;
  }

  /** Stores and claims a new payment, in a single statement. */
  add({ key, owner, leaseMs }: Claim, { body, digest }: Intent): string {
    const now = this.#dialect.now();
    return `INSERT INTO ${this.#payments}
  (merchant_payment_reference, body, digest, state, owner, lease_until_ms, attempts, recorded_at_ms, sent_at_ms, changed_at_ms)
VALUES (${this.#sql.values([key, body, digest, 'sending', owner])}, ${now} + ${leaseMs}, 1, ${now}, ${now}, ${now})${this.#dialect.ifNew}`;
  }

  *insert(key: string, { body, digest }: Intent, order?: string): Step<void> {
    const now = this.#dialect.now();
    yield `INSERT INTO ${this.#payments}
  (merchant_payment_reference, body, digest, state, attempts, order_name, recorded_at_ms, changed_at_ms)
VALUES (${this.#sql.values([key, body, digest, 'recorded', 0, order])}, ${now}, ${now})${this.#dialect.orLock('merchant_payment_reference')}`;
  }

  read(key: string): string {
    return `SELECT ${this.#row} FROM ${this.#payments} WHERE ${this.#sql.match({ merchant_payment_reference: key })}`;
  }

  *see(key: string): Step<KeyedRow | undefined> {
    return parseFirst(yield this.read(key));
  }

  *lock(key: string): Step<KeyedRow | undefined> {
    return parseFirst(yield `${this.read(key)}${this.#dialect.forUpdate}`);
  }

  *change(key: string, change: RowChange): Step<void> {
    yield this.#sql.change(key, change);
  }

  /** Stores the end of an attempt in a single statement, if the payment still has this owner. */
  finish(key: string, owner: string, result: Result): string {
    return this.#sql.change(key, end(result), ` AND owner = ${this.#sql.value(owner)}`);
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
    return this.listed(condition, page, time);
  }

  listDue(kind: DueKind, lifetimeMs: number, page: Page): string {
    const now = this.#dialect.now();
    const condition = {
      unresolved: `(state = 'unresolved' OR (state = 'sending' AND lease_until_ms <= ${now}))`,
      waiting: `${WAITING} AND sent_at_ms <= ${now} - ${lifetimeMs}`,
    }[kind];
    const isDue = `${condition} AND (look_at_ms IS NULL OR look_at_ms <= ${now})`;
    return this.listed(isDue, page, 'sent_at_ms');
  }

  listed(condition: string, page: Page, time: 'sent_at_ms' | 'changed_at_ms'): string {
    return `SELECT ${this.#row} FROM ${this.#payments}
WHERE ${condition}${this.#sql.page(page, time, ['merchant_payment_reference'])}`;
  }

  /** A row, and the time, as `parseOwnedRow` reads it. */
  get #row(): string {
    const columns = Object.values(COLUMNS).join(', ');
    return this.#dialect.list(`merchant_payment_reference, ${columns}, ${this.#dialect.now()}`);
  }
}

function parseFirst([json]: readonly string[]): KeyedRow | undefined {
  return json === undefined ? undefined : parseOwnedRow(json);
}
