import type { Intent, PaymentRow, Result } from '../payment-row.js';
import type { KeyedRow, PaymentRows, Step } from '../payment-steps.js';
import type { RowChange } from '../steps.js';
import type { PaymentStatements } from './payment-statements.js';
import { parseOwnedRow } from './rows.js';
import { databaseForms, type Sql } from './sql.js';

/** The rows of payments in their table. */
export class SqlRows implements PaymentRows {
  readonly forms = databaseForms;
  readonly #payments: PaymentStatements;
  readonly #sql: Sql;

  constructor(payments: PaymentStatements, sql: Sql) {
    this.#payments = payments;
    this.#sql = sql;
  }

  *see(key: string): Step<KeyedRow | undefined> {
    return parseFirst(yield this.#payments.read(key));
  }

  *lock(key: string): Step<KeyedRow | undefined> {
    return parseFirst(yield this.#payments.lock(key));
  }

  *insert(key: string, intent: Intent, order?: string): Step<void> {
    yield this.#payments.insert(key, intent, order);
  }

  *change(key: string, change: RowChange): Step<void> {
    yield this.#sql.change(key, change);
  }
}

function parseFirst([json]: readonly string[]): KeyedRow | undefined {
  return json === undefined ? undefined : parseOwnedRow(json);
}

// The result of a single statement is known except for the database's time, which this process's clock replaces.

/** The payment that a claim has stored as new. */
export function added({ body, digest }: Intent): PaymentRow {
  const atMs = Date.now();
  return {
    body,
    digest,
    state: 'sending',
    attempts: 1,
    recordedAtMs: atMs,
    sentAtMs: atMs,
    changedAtMs: atMs,
    referenceNumber: undefined,
    payment: undefined,
    foundStatus: undefined,
    failure: undefined,
    order: undefined,
    replacedBy: undefined,
  };
}

/** The stored payment after the end of an attempt to send. */
export function finished(claimed: PaymentRow, result: Result): PaymentRow {
  const changedAtMs = Date.now();
  const { state, failure } = result;
  if (state !== 'created') return { ...claimed, state, failure, changedAtMs };
  const { referenceNumber, payment } = result.serviceRecord;
  return { ...claimed, state, failure, changedAtMs, referenceNumber, payment };
}
