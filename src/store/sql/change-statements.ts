import type { Change, ChangeName, PaymentName } from '../change.js';
import {
  type ChangeDecision,
  isOfAnother,
  type KeptFailure,
  type SeenChange,
} from '../change-steps.js';
import type { Page } from '../payment-row.js';
import type { Step } from '../payment-steps.js';
import type { Dialect, Tables } from './dialect.js';
import { parseOne, parseSecond, parseSeenChange } from './rows.js';
import { COLUMNS, databaseForms, keyOf, ORDER_FIELDS, Sql } from './sql.js';
import { CHANGE } from './sweeps.js';

const [ORDER, PAYMENT, KEY] = CHANGE;
const ORDERS = ORDER_FIELDS.map((field) => COLUMNS[field]).join(', ');

/** The statements about changes, for every engine. Those of a change run while its order's row is locked. */
export class ChangeStatements {
  readonly #sql: Sql;
  readonly #dialect: Dialect;
  readonly #tables: Tables;
  readonly #texts: ReturnType<typeof textsOf>;

  constructor(dialect: Dialect) {
    this.#sql = new Sql(dialect);
    this.#dialect = dialect;
    this.#tables = dialect.tables;
    this.#texts = textsOf(dialect);
  }

  /**
   * Locks the order's row, which is made if there is none, and reads what {@link see} expects. Two statements, because
   * the second one must see what the first has waited for.
   */
  claim(change: ChangeName): readonly [lock: string, read: string] {
    const literals = this.#literals(change);
    return [this.#texts.lock(literals), this.#texts.all(literals)];
  }

  /** The same for an order that has a row, at a lower cost. If there is none, nothing is locked. */
  claimKnown(change: ChangeName): readonly [lock: string, read: string] {
    const literals = this.#literals(change);
    return [this.#texts.lockKnown(literals), this.#texts.processed(literals)];
  }

  #literals({ merchantPaymentReference, referenceNumber, key }: ChangeName): Literals {
    return {
      order: this.#sql.value(merchantPaymentReference),
      payment: this.#sql.value(referenceNumber),
      key: this.#sql.value(key),
      now: this.#dialect.now(),
    };
  }

  /** What is stored about a change, of which these rows were read; undefined if nothing is about its order. */
  *see(change: ChangeName, rows: readonly string[]): Step<SeenChange | undefined> {
    let own = parseSeenChange(rows, change);
    // Not for every change: few orders have failures, and one more read costs a server a tenth of a callback.
    if (own?.hasFailed) {
      const failed = yield this.#texts.failed(this.#literals(change));
      own = parseSeenChange([...rows, ...failed], change);
    }
    const seen = own && (yield* this.#withOrder(own));
    if (seen === undefined || !isOfAnother(seen.row, change)) return seen;
    const [second] =
      yield `SELECT ${this.#dialect.list('payment, payment_updated_at_us')} FROM ${this.#tables.seconds}
WHERE ${isSecond(this.#sql, change)}`;
    return { ...seen, second: parseSecond(second) };
  }

  /** Locks the order of a later attempt, and sees which payment has paid it. */
  *#withOrder(seen: SeenChange): Step<SeenChange> {
    const { row } = seen;
    if (row?.order === undefined) return seen;
    const { list, forUpdate } = this.#dialect;
    const isFirst = this.#sql.match({ merchant_payment_reference: keyOf(row.order) });
    const [paidBy] =
      yield `SELECT ${list('paid_by')} FROM ${this.#tables.payments} WHERE ${isFirst}${forUpdate}`;
    return { ...seen, row: { ...row, paidBy: parseOne(paidBy) } };
  }

  /** The statements that record a change as processed, settle its payment, and forget its failure. */
  record(change: Change, decision: ChangeDecision): readonly string[] {
    const literals = this.#literals(change);
    const { newest, failure } = decision;
    return [
      this.#texts.record(literals, change.occurredAtUs, newest),
      ...this.settle(change, decision),
      ...(failure === undefined ? [] : [this.#texts.forget(literals)]),
    ];
  }

  /** The statements that settle the payment of a change, or of a late answer, in a transaction that is durable. */
  settle(
    {
      merchantPaymentReference,
      serviceRecord,
    }: Pick<Change, 'merchantPaymentReference' | 'serviceRecord'>,
    {
      settled: { change, list, later },
      order,
    }: Pick<ChangeDecision, 'settled'> & Partial<Pick<ChangeDecision, 'order'>>,
  ): readonly string[] {
    const statements =
      change === undefined ? [] : [this.#sql.change(merchantPaymentReference, change)];
    const first = order === undefined ? merchantPaymentReference : databaseForms.toName(order);
    if (change?.paidBy !== undefined && first !== merchantPaymentReference) {
      statements.push(this.#sql.change(first, { paidBy: change.paidBy }));
    }
    const { seconds } = this.#tables;
    const { referenceNumber } = serviceRecord;
    const { payment = '{}', updatedAtUs } = later ?? serviceRecord;
    if (list === 'add') {
      const values = this.#sql.values([referenceNumber, payment, updatedAtUs]);
      statements.push(`INSERT INTO ${seconds}
  (merchant_payment_reference, reference_number, payment, payment_updated_at_us, found_at_ms)
VALUES (${this.#sql.value(merchantPaymentReference)}, ${values}, ${this.#dialect.now()})`);
    } else if (list === 'update') {
      statements.push(`UPDATE ${seconds}
SET payment = ${this.#sql.value(payment)}, payment_updated_at_us = ${this.#sql.value(updatedAtUs)}
WHERE ${isSecond(this.#sql, { merchantPaymentReference, referenceNumber: referenceNumber as string })}`);
    }
    return statements;
  }

  keep(change: Change, decision: ChangeDecision, kept: KeptFailure): readonly string[] {
    const { failures } = this.#tables;
    const { attempts, parked, error } = kept;
    const rawBody = kept.rawBody && Buffer.from(kept.rawBody).toString('base64');
    const literals = this.#literals(change);
    const { now } = literals;
    if (decision.failure !== undefined) {
      const body = rawBody === undefined ? '' : `, raw_body = ${this.#sql.value(rawBody)}`;
      return [
        `UPDATE ${failures} SET attempts = ${attempts}, parked = ${Number(parked)},
  error = ${this.#sql.value(error)}, last_failed_at_ms = ${now}${body}
WHERE ${this.#texts.isChange(literals)}`,
      ];
    }
    const { merchantPaymentReference, referenceNumber, key, full, occurredAtUs } = change;
    const inFull = JSON.stringify([full.merchantPaymentReference, full.referenceNumber, full.key]);
    const names = this.#sql.values([merchantPaymentReference, referenceNumber, key, inFull]);
    return [
      `INSERT INTO ${failures}
  (${CHANGE.join(', ')}, full_names, occurred_at_us, attempts, parked, error, raw_body, first_failed_at_ms, last_failed_at_ms)
VALUES (${names}, ${occurredAtUs}, ${attempts}, ${Number(parked)}, ${this.#sql.value(error)}, ${this.#sql.value(rawBody)}, ${now}, ${now})`,
      this.#texts.setFailed(literals),
    ];
  }

  /** Returns its attempts. */
  lockFailed(name: ChangeName): string {
    return this.#texts.lockFailed(this.#literals(name));
  }

  forgetFailed(name: ChangeName): string {
    return this.#texts.forget(this.#literals(name));
  }

  /** Returns its record. */
  lockSecond(name: PaymentName): string {
    const { list, forUpdate } = this.#dialect;
    return `SELECT ${list('payment')} FROM ${this.#tables.seconds} WHERE ${isSecond(this.#sql, name)}${forUpdate}`;
  }

  forgetSecond(name: PaymentName): string {
    return `DELETE FROM ${this.#tables.seconds} WHERE ${isSecond(this.#sql, name)}`;
  }

  /** A row as `parseFailedRow` reads it. */
  listFailed(page: Page, referenceNumber: string | undefined): string {
    const names = [...CHANGE, 'full_names', 'occurred_at_us'];
    const times = ['first_failed_at_ms', 'last_failed_at_ms'];
    const others = ['attempts', 'parked', 'error', 'raw_body', this.#dialect.now()];
    const columns = [...names, ...times, ...others].join(', ');
    const condition =
      referenceNumber === undefined
        ? '1 = 1'
        : this.#sql.match({ reference_number: referenceNumber });
    return `SELECT ${this.#dialect.list(columns)} FROM ${this.#tables.failures}
WHERE ${condition}${this.#sql.page(page, 'first_failed_at_ms', CHANGE)}`;
  }

  /** A row as `parseSecondRow` reads it. */
  listSecond(page: Page): string {
    const { list, now } = this.#dialect;
    const columns = list(`found_at_ms, ${ORDER}, ${PAYMENT}, payment, ${now()}`);
    return `SELECT ${columns} FROM ${this.#tables.seconds}
WHERE 1 = 1${this.#sql.page(page, 'found_at_ms', [ORDER, PAYMENT])}`;
  }
}

/** What identifies a change, and the time, in SQL. */
type Literals = Readonly<Record<'order' | 'payment' | 'key' | 'now', string>>;

/** The usual statements, whose texts are built once and filled in for each change. */
function textsOf({ asText, forUpdate, list, orLock, tables }: Dialect) {
  const { changes, failures, payments } = tables;
  const from = (kind: 'order' | 'change' | 'failure', columns: string, table: string) =>
    `SELECT ${list(`'${kind}', ${columns}`)} FROM ${table} WHERE `;
  const fromPayments = from('order', `${ORDERS}, has_failed`, payments);
  const fromChanges = from('change', `${KEY}, ${asText('latest_rank')}`, changes);
  const fromFailures = from('failure', 'attempts, parked', failures);
  const attemptsOf = `SELECT ${list('attempts')} FROM ${failures} WHERE `;
  const intoChanges = `INSERT INTO ${changes}
  (${CHANGE.join(', ')}, occurred_at_us, latest_rank, processed_at_ms)`;
  const isOrder = ({ order }: Literals) => `${ORDER} = ${order}`;
  const isPayment = (of: Literals) => `${isOrder(of)} AND ${PAYMENT} = ${of.payment}`;
  const isChange = (of: Literals) => `${isPayment(of)} AND ${KEY} = ${of.key}`;
  const processed = (of: Literals) => `${fromChanges}${isPayment(of)}`;
  return {
    isChange,
    processed,
    failed: (of: Literals) => `${fromFailures}${isChange(of)}`,
    lock: ({ order, now }: Literals) => `INSERT INTO ${payments}
  (${ORDER}, body, digest, state, attempts, recorded_at_ms, changed_at_ms)
VALUES (${order}, '', '', 'elsewhere', 0, 0, ${now})${orLock(ORDER)}`,
    lockKnown: (of: Literals) => `${fromPayments}${isOrder(of)}${forUpdate}`,
    all: (of: Literals) => `${fromPayments}${isOrder(of)}\nUNION ALL ${processed(of)}`,
    record: ({ order, payment, key, now }: Literals, occurred: string, newest: string) =>
      `${intoChanges}
VALUES (${order}, ${payment}, ${key}, ${occurred}, ${newest}, ${now})`,
    forget: (of: Literals) => `DELETE FROM ${failures} WHERE ${isChange(of)}`,
    lockFailed: (of: Literals) => `${attemptsOf}${isChange(of)}${forUpdate}`,
    setFailed: (of: Literals) => `UPDATE ${payments} SET has_failed = 1 WHERE ${isOrder(of)}`,
  };
}

function isSecond(sql: Sql, name: PaymentName): string {
  const { merchantPaymentReference, referenceNumber } = name;
  return sql.match({ [ORDER]: merchantPaymentReference, [PAYMENT]: referenceNumber });
}
