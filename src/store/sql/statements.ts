import { toAsciiJson } from './ascii-json.js';
import type { Change, OwnedPayment } from '../steps.js';
import type { Claim, Finding, Intent, Page, SecondPaymentsPage } from '../store.js';
import type { Dialect } from './dialect.js';

const COLUMNS: Readonly<Record<keyof OwnedPayment, string>> = {
  body: 'body',
  digest: 'digest',
  state: 'state',
  attempts: 'attempts',
  recordedAtMs: 'recorded_at_ms',
  sentAtMs: 'sent_at_ms',
  changedAtMs: 'changed_at_ms',
  referenceNumber: 'reference_number',
  payment: 'payment',
  failure: 'failure',
  owner: 'owner',
  leaseUntilMs: 'lease_until_ms',
  updatedAtUs: 'payment_updated_at_us',
};

/**
 * The statements of an outbox, for every engine. They have no parameters, because an ORM accepts none in a raw
 * statement. A SELECT returns one text in each row, and no other statement returns rows.
 */
export class Statements {
  readonly #dialect: Dialect;

  constructor(dialect: Dialect) {
    this.#dialect = dialect;
  }

  /** The statements that create the tables and the index. */
  get schema(): readonly string[] {
    const { payments, seconds, nameType: name, textType: text, tableOptions } = this.#dialect;
    const { index } = this.#dialect;
    return [
      `-- One row for each payment to create. Times are in milliseconds since 1970, except where the name says us.
CREATE TABLE IF NOT EXISTS ${payments} (
  -- The merchant's reference, or a digest of it if it is long or has special characters.
  reference ${name} NOT NULL PRIMARY KEY,
  -- The request body as JSON, and its digest.
  body ${text} NOT NULL,
  digest ${name} NOT NULL,
  -- recorded, sending, created, rejected or unresolved.
  state ${name} NOT NULL,
  -- The fencing token of the process that sends it, and the end of its lease.
  owner ${name},
  lease_until_ms bigint,
  attempts int NOT NULL,
  recorded_at_ms bigint NOT NULL,
  sent_at_ms bigint,
  changed_at_ms bigint NOT NULL,
  -- The payment at the service: its reference, its record as JSON, and the time of the record.
  reference_number ${name},
  payment ${text},
  payment_updated_at_us bigint,
  -- Why the last attempt failed, as JSON.
  failure ${text}${'inTable' in index ? `,\n  ${index.inTable}` : ''}
)${tableOptions}`,
      `-- One row for each further payment at the service with the same reference.
CREATE TABLE IF NOT EXISTS ${seconds} (
  reference ${name} NOT NULL,
  reference_number ${name} NOT NULL,
  -- The request body that was sent for the reference, as JSON.
  body ${text} NOT NULL,
  -- The record as JSON, and its time.
  payment ${text} NOT NULL,
  payment_updated_at_us bigint,
  found_at_ms bigint NOT NULL,
  PRIMARY KEY (reference, reference_number)
)${tableOptions}`,
      ...('statement' in index
        ? [`-- For recover(), unresolved() and prune().\n${index.statement}`]
        : []),
    ];
  }

  /** Fail if a table is missing or lacks a column. Return nothing. */
  get checks(): readonly string[] {
    const { payments, seconds } = this.#dialect;
    return [
      `SELECT ${this.#row} FROM ${payments} LIMIT 0`,
      `SELECT ${this.#second}, payment_updated_at_us FROM ${seconds} LIMIT 0`,
    ];
  }

  /**
   * Stores and claims a new payment, in a single statement.
   *
   * @param mark a comment by which the statement is found while it waits
   */
  add({ key, owner, leaseMs }: Claim, { body, digest }: Intent, mark: string): string {
    const { payments, ifNew } = this.#dialect;
    const now = this.#dialect.now();
    return `${mark}INSERT INTO ${payments}
  (reference, body, digest, state, owner, lease_until_ms, attempts, recorded_at_ms, sent_at_ms, changed_at_ms)
VALUES (${this.#values([key, body, digest])}, ${this.#durably('sending')}, ${this.#value(owner)},
  ${now} + ${leaseMs}, 1, ${now}, ${now}, ${now})${ifNew}`;
  }

  /** Stores an intent as `recorded` if nothing is stored. */
  insert(key: string, { body, digest }: Intent): string {
    const { payments, unlessStored } = this.#dialect;
    const now = this.#dialect.now();
    return `INSERT INTO ${payments}
  (reference, body, digest, state, attempts, recorded_at_ms, changed_at_ms)
VALUES (${this.#values([key, body, digest, 'recorded', 0])}, ${now}, ${now})${unlessStored}`;
  }

  /** Returns the row. */
  read(key: string): string {
    return `SELECT ${this.#row} FROM ${this.#dialect.payments} WHERE reference = ${this.#value(key)}`;
  }

  /** Returns the current row, and locks it until the transaction ends. */
  lock(key: string): string {
    return `${this.read(key)}${this.#dialect.forUpdate}`;
  }

  change(key: string, change: Change): string {
    return `UPDATE ${this.#dialect.payments} SET ${this.#columns(change)}
WHERE reference = ${this.#value(key)}`;
  }

  /** The same in a single statement, if the payment still has this owner. */
  finish(key: string, owner: string, change: Change): string {
    return `UPDATE ${this.#dialect.payments}
SET ${this.#columns(change)}, changed_at_ms = ${this.#dialect.now()}
WHERE reference = ${this.#value(key)} AND owner = ${this.#value(owner)}`;
  }

  /** Returns the time of a second payment's record, and locks its row. */
  lockSecond(key: string, { referenceNumber }: Finding): string {
    const { seconds, forUpdate, list } = this.#dialect;
    return `SELECT ${list('payment_updated_at_us')} FROM ${seconds}
WHERE reference = ${this.#value(key)} AND reference_number = ${this.#value(referenceNumber)}${forUpdate}`;
  }

  addSecond(key: string, body: string, finding: Finding): string {
    const { referenceNumber, payment, updatedAtUs } = finding;
    const values = this.#values([referenceNumber, body, payment, updatedAtUs]);
    return `INSERT INTO ${this.#dialect.seconds}
  (reference, reference_number, body, payment, payment_updated_at_us, found_at_ms)
VALUES (${this.#durably(key)}, ${values}, ${this.#dialect.now()})`;
  }

  changeSecond(key: string, { referenceNumber, payment, updatedAtUs }: Finding): string {
    return `UPDATE ${this.#dialect.seconds}
SET payment = ${this.#value(payment)}, payment_updated_at_us = ${this.#value(updatedAtUs)}
WHERE reference = ${this.#durably(key)} AND reference_number = ${this.#value(referenceNumber)}`;
  }

  /** Returns the references, and locks their rows until the transaction ends. */
  lockExpired(limit: number): string {
    return this.#lockSome(this.#expired, limit);
  }

  /** Like {@link lockExpired}. */
  lockOld(beforeMs: number, limit: number): string {
    return this.#lockSome(
      `state IN ('created', 'rejected') AND changed_at_ms < ${beforeMs}`,
      limit,
    );
  }

  #lockSome(condition: string, limit: number): string {
    const { payments, skipLocked } = this.#dialect;
    return `SELECT reference FROM ${payments} WHERE ${condition} LIMIT ${limit}${skipLocked}`;
  }

  expire(keys: readonly string[]): string {
    const { payments, byReference } = this.#dialect;
    return `UPDATE ${payments}${byReference}
SET state = 'unresolved', changed_at_ms = ${this.#dialect.now()}
WHERE reference IN (${this.#values(keys)})`;
  }

  delete(keys: readonly string[]): string {
    return this.#dialect.deleteIn(this.#values(keys));
  }

  pruneSeconds(beforeMs: number): string {
    return `DELETE FROM ${this.#dialect.seconds} WHERE found_at_ms < ${beforeMs}`;
  }

  listRecorded(page: Page): string {
    return this.#list(`state = 'recorded'`, 'changed_at_ms', page);
  }

  listUnresolved(page: Page): string {
    // The first condition is the one that the index knows.
    const condition = `state IN ('unresolved', 'sending') AND (state = 'unresolved' OR ${this.#expired})`;
    return this.#list(condition, 'sent_at_ms', page);
  }

  #list(condition: string, time: string, { olderThanMs, after, limit }: Page): string {
    const isOld =
      olderThanMs === 0 ? '' : ` AND ${time} <= ${this.#dialect.now()} - ${olderThanMs}`;
    const isBehind = after
      ? ` AND (${time}, reference) > (${this.#values([after.atMs, after.key])})`
      : '';
    return `SELECT ${this.#row} FROM ${this.#dialect.payments}
WHERE ${condition}${isOld}${isBehind}
ORDER BY ${time}, reference LIMIT ${limit}`;
  }

  listSecondPayments({ after, limit }: SecondPaymentsPage): string {
    const isBehind = after
      ? `WHERE (found_at_ms, reference, reference_number) >
  (${this.#values([after.foundAtMs, after.key, after.referenceNumber])})`
      : '';
    return `SELECT ${this.#second} FROM ${this.#dialect.seconds} ${isBehind}
ORDER BY found_at_ms, reference, reference_number LIMIT ${limit}`;
  }

  /** A row, and the time, as `parseOwnedRow` reads it. */
  get #row(): string {
    const columns = Object.values(COLUMNS).join(', ');
    return this.#dialect.list(`reference, ${columns}, ${this.#dialect.now()}`);
  }

  /** A row as `parseSecondPayments` reads it. */
  get #second(): string {
    return this.#dialect.list('reference, body, reference_number, payment, found_at_ms');
  }

  get #expired(): string {
    return `(state = 'sending' AND lease_until_ms <= ${this.#dialect.now()})`;
  }

  #columns(change: Change): string {
    return Object.entries(change)
      .map(([name, to]) => {
        const value = name === 'state' ? this.#durably(String(to)) : this.#value(to);
        return `${COLUMNS[name as keyof OwnedPayment]} = ${value}`;
      })
      .join(', ');
  }

  #values(values: readonly (string | number | undefined)[]): string {
    return values.map((value) => this.#value(value)).join(', ');
  }

  #value(value: string | number | undefined): string {
    if (value === undefined) return 'NULL';
    // JSON beyond ASCII is escaped, so that it does not depend on a character set.
    return typeof value === 'number' ? `${value}` : this.#dialect.literal(toAsciiJson(value));
  }

  #durably(text: string): string {
    return this.#dialect.durably(this.#dialect.literal(text));
  }
}
