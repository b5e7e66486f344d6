import { toAsciiJson } from '../../storage/ascii-json.js';
import { literal } from '../../storage/mysql/literal.js';
import { NOW_US } from '../../storage/mysql/session.js';
import type { Change, OwnedPayment } from '../steps.js';
import type { Claim, Finding, Intent, Page, StoredSecondPayment } from '../store.js';
import type { QuotedTables } from './options.js';

// Statements without parameters, because a provider's ORM accepts no others.

const NOW_MS = `${NOW_US} DIV 1000`;
const EXPIRED = `state = 'sending' AND lease_until_ms <= ${NOW_MS}`;

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

/** A row, and the time, as JSON: a list, in the order in which `parseOwnedRow` reads it. */
const ROW = `CAST(JSON_ARRAY(reference, ${Object.values(COLUMNS).join(', ')}, ${NOW_MS}) AS CHAR)`;
const SECOND = 'CAST(JSON_ARRAY(reference, body, reference_number, payment, found_at_ms) AS CHAR)';

/** The statements of an outbox. Each row of a result is one text. */
export class Statements {
  readonly #payments: string;
  readonly #seconds: string;

  constructor({ payments, seconds }: QuotedTables) {
    this.#payments = payments;
    this.#seconds = seconds;
  }

  /** Fail if a table is missing or lacks a column. Return nothing. */
  get checks(): readonly string[] {
    return [
      `SELECT ${ROW} FROM ${this.#payments} LIMIT 0`,
      `SELECT ${SECOND}, payment_updated_at_us FROM ${this.#seconds} LIMIT 0`,
    ];
  }

  /**
   * Stores and claims a new payment. Fails if one is stored.
   *
   * @param session the driver's thread id of the session
   */
  add({ key, owner, leaseMs }: Claim, { body, digest }: Intent, session: number): string {
    return `/* ${owner} ${session} */ INSERT INTO ${this.#payments}
  (reference, body, digest, state, owner, lease_until_ms, attempts, recorded_at_ms, sent_at_ms, changed_at_ms)
VALUES (${literal(key)}, ${value(body)}, ${value(digest)}, 'sending', ${literal(owner)}, ${NOW_MS} + ${leaseMs}, 1, ${NOW_MS}, ${NOW_MS}, ${NOW_MS})`;
  }

  /**
   * Returns the id of the session in which this owner's claim still waits. Returns none if the server's id differs from
   * the driver's: then a proxy is in between, and KILL would hit another session.
   */
  findClaim(owner: string): string {
    return `SELECT CAST(id AS CHAR) FROM information_schema.processlist
WHERE LOCATE(CONCAT(${literal(`/* ${owner} `)}, id, ' */'), info) = 1`;
  }

  /**
   * Stores an intent as `recorded` if nothing is stored, and locks the row. Not by INSERT IGNORE, whose locks
   * make two transactions deadlock that have both waited for a third.
   */
  insert(key: string, { body, digest }: Intent): string {
    return `INSERT INTO ${this.#payments}
  (reference, body, digest, state, attempts, recorded_at_ms, changed_at_ms)
VALUES (${literal(key)}, ${value(body)}, ${value(digest)}, 'recorded', 0, ${NOW_MS}, ${NOW_MS})
ON DUPLICATE KEY UPDATE reference = ${literal(key)}`;
  }

  /** Returns the row. */
  read(key: string): string {
    return `SELECT ${ROW} FROM ${this.#payments} WHERE reference = ${literal(key)}`;
  }

  /** Returns the current row, and locks it until the transaction ends. */
  lock(key: string): string {
    return `${this.read(key)} FOR UPDATE`;
  }

  change(key: string, change: Change): string {
    return `UPDATE ${this.#payments} SET ${columnsOf(change)} WHERE reference = ${literal(key)}`;
  }

  /** The same as a single statement, if the payment still has this owner. */
  finish(key: string, owner: string, change: Change): string {
    return `UPDATE ${this.#payments} SET ${columnsOf(change)}, changed_at_ms = ${NOW_MS}
WHERE reference = ${literal(key)} AND owner = ${literal(owner)}`;
  }

  /** Columns are set from left to right: the record first, because its condition reads the old time. */
  addSecond(key: string, body: string, { referenceNumber, payment, updatedAtUs }: Finding): string {
    const age = updatedAtUs ?? 0;
    const isNew = `coalesce(payment_updated_at_us, 0) <= ${age}`;
    return `INSERT INTO ${this.#seconds}
  (reference, reference_number, body, payment, payment_updated_at_us, found_at_ms)
VALUES (${literal(key)}, ${value(referenceNumber)}, ${value(body)}, ${value(payment)}, ${value(updatedAtUs)}, ${NOW_MS})
ON DUPLICATE KEY UPDATE payment = CASE WHEN ${isNew} THEN ${value(payment)} ELSE payment END,
  payment_updated_at_us = greatest(coalesce(payment_updated_at_us, 0), ${age})`;
  }

  /** Returns the keys, and locks their rows until the transaction ends. Skips locked rows. */
  lockExpired(limit: number): string {
    return `SELECT reference FROM ${this.#payments} WHERE ${EXPIRED} LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
  }

  expire(keys: readonly string[]): string {
    return `UPDATE ${this.#payments} FORCE INDEX (PRIMARY)
SET state = 'unresolved', changed_at_ms = ${NOW_MS} WHERE reference IN (${listOf(keys)})`;
  }

  listRecorded(page: Page): string {
    return this.#list(`state = 'recorded'`, 'changed_at_ms', page);
  }

  listUnresolved(page: Page): string {
    const condition = `state IN ('unresolved', 'sending') AND (state = 'unresolved' OR ${EXPIRED})`;
    return this.#list(condition, 'sent_at_ms', page);
  }

  #list(condition: string, time: string, { olderThanMs, after, limit }: Page): string {
    const behind = after ? `AND (${time}, reference) > (${after.atMs}, ${literal(after.key)})` : '';
    const isOld = olderThanMs === 0 ? '' : ` AND ${time} <= ${NOW_MS} - ${olderThanMs}`;
    return `SELECT ${ROW} FROM ${this.#payments}
WHERE ${condition}${isOld} ${behind}
ORDER BY ${time}, reference LIMIT ${limit}`;
  }

  listSecondPayments(after: StoredSecondPayment | undefined, limit: number): string {
    const behind = after
      ? `WHERE (found_at_ms, reference, reference_number) >
  (${after.foundAtMs}, ${literal(after.key)}, ${literal(after.referenceNumber)})`
      : '';
    return `SELECT ${SECOND} FROM ${this.#seconds} ${behind}
ORDER BY found_at_ms, reference, reference_number LIMIT ${limit}`;
  }

  /** Like {@link lockExpired}. */
  lockOld(beforeMs: number, limit: number): string {
    return `SELECT reference FROM ${this.#payments}
WHERE state IN ('created', 'rejected') AND changed_at_ms < ${beforeMs} LIMIT ${limit} FOR UPDATE SKIP LOCKED`;
  }

  delete(keys: readonly string[]): string {
    // Without the index hint, the server scans a small table completely, and waits for rows that others have locked.
    return `DELETE payment FROM ${this.#payments} AS payment FORCE INDEX (PRIMARY) WHERE reference IN (${listOf(keys)})`;
  }

  pruneSeconds(beforeMs: number): string {
    return `DELETE FROM ${this.#seconds} WHERE found_at_ms < ${beforeMs}`;
  }
}

function columnsOf(change: Change): string {
  return Object.entries(change)
    .map(([name, to]) => `${COLUMNS[name as keyof OwnedPayment]} = ${value(to)}`)
    .join(', ');
}

function listOf(keys: readonly string[]): string {
  return keys.map(literal).join(', ');
}

/** JSON beyond ASCII is escaped, so that it does not depend on the connection's character set. */
function value(of: string | number | undefined): string {
  if (of === undefined) return 'NULL';
  return typeof of === 'number' ? String(of) : literal(toAsciiJson(of));
}
