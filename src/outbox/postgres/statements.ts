import { toAsciiJson } from '../../storage/ascii-json.js';
import { literal } from '../../storage/postgres/literal.js';
import type { Claim, Finding, Intent, Page, Result, StoredSecondPayment } from '../store.js';
import type { QuotedTables } from './options.js';

// Each is a single statement without parameters, because a provider's ORM accepts no others. Each returns at most one
// text, JSON if it is more than a word, because a pool may parse other types in its own way.

const NOW = 'clock_timestamp()';
const EXPIRED = `row.state = 'sending' AND row.lease_until <= ${NOW}`;
const LEASE = (leaseMs: number) => `${NOW} + interval '${leaseMs} milliseconds'`;

const ms = (column: string) => `(extract(epoch FROM ${column}) * 1000)::bigint`;
const at = (epochMs: number) => `to_timestamp(${epochMs / 1000})::timestamptz(3)`;
// For JSON, and for texts that may contain any character.
const text = (value: string | undefined) =>
  value === undefined ? 'NULL' : literal(toAsciiJson(value));
const whole = (value: number | undefined) => (value === undefined ? 'NULL' : `${value}`);

/** A row as JSON: a list, in the order in which {@link parseRow} reads it. */
const rowWith = (state: string) => `json_build_array(row.reference, row.body, row.digest,
  ${state}, row.attempts,
  ${ms('row.recorded_at')}, ${ms('row.sent_at')}, ${ms('row.changed_at')},
  row.reference_number, row.payment, row.failure)`;
const ROW = rowWith(`CASE WHEN ${EXPIRED} THEN 'unresolved' ELSE row.state END`);
// A claim whose lease has already expired must still see 'sending', because it has sent nothing yet.
const CLAIMED_ROW = rowWith('row.state');

// An empty text whose evaluation makes the transaction commit to disk, even if the role's default is not to.
const DURABLY = `left(set_config('synchronous_commit',
  replace(current_setting('synchronous_commit'), 'off', 'on'), true), 0)`;

/**
 * The state of a claim. The claim must be durable before the payment is sent, or a crash of the server could undo it.
 * This is an expression, so that the claim stays a single statement.
 */
const SENDING = `'sending' || ${DURABLY}`;

/** A comment at the start of a claim, to find it among the running statements. */
const markOf = (owner: string) => `/* ${owner} */`;

export class Statements {
  readonly #payments: string;
  readonly #seconds: string;

  constructor({ payments, seconds }: QuotedTables) {
    this.#payments = payments;
    this.#seconds = seconds;
  }

  /** Stores and claims a new payment. The usual case, as the shortest possible statement. Changes a row if it is new. */
  add({ key, owner, leaseMs }: Claim, { body, digest }: Intent): string {
    return `${markOf(owner)} INSERT INTO ${this.#payments}
  (reference, body, digest, state, owner, lease_until, attempts, recorded_at, sent_at, changed_at)
VALUES (${literal(key)}, ${text(body)}, ${literal(digest)}, ${SENDING},
  ${literal(owner)}, ${LEASE(leaseMs)}, 1, now(), now(), now())
ON CONFLICT DO NOTHING`;
  }

  /** Returns the row if it was claimed, or has become unresolved. */
  claim({ key, intent, owner, allowsRejected, leaseMs }: Claim): string {
    const change = `attempts = row.attempts + (row.state <> 'sending')::int,
  owner = CASE row.state WHEN 'sending' THEN row.owner ELSE ${literal(owner)} END,
  lease_until = CASE row.state WHEN 'sending' THEN row.lease_until ELSE ${LEASE(leaseMs)} END,
  sent_at = CASE row.state WHEN 'sending' THEN row.sent_at ELSE ${NOW} END,
  failure = NULL, changed_at = ${NOW},
  state = CASE row.state WHEN 'sending' THEN 'unresolved' ELSE ${SENDING} END`;
    const rejected = allowsRejected ? `row.state = 'rejected'` : 'false';
    if (intent === undefined) {
      return `${markOf(owner)} UPDATE ${this.#payments} AS row SET ${change}
WHERE row.reference = ${literal(key)} AND (row.state = 'recorded' OR ${rejected} OR ${EXPIRED})
RETURNING ${CLAIMED_ROW}::text`;
    }
    return `${markOf(owner)} INSERT INTO ${this.#payments} AS row
  (reference, body, digest, state, owner, lease_until, attempts, sent_at)
VALUES (${literal(key)}, ${text(intent.body)}, ${literal(intent.digest)}, ${SENDING},
  ${literal(owner)}, ${LEASE(leaseMs)}, 1, ${NOW})
ON CONFLICT (reference) DO UPDATE SET ${change},
  body = CASE row.state WHEN 'sending' THEN row.body ELSE excluded.body END,
  digest = CASE row.state WHEN 'sending' THEN row.digest ELSE excluded.digest END
WHERE ${rejected} OR ${EXPIRED}
  OR (row.state = 'recorded' AND row.digest = excluded.digest)
RETURNING ${CLAIMED_ROW}::text`;
  }

  /** Cancels the statement with which this owner is still waiting for its claim. Returns how many there were. */
  cancelClaim(owner: string): string {
    return `SELECT count(pg_cancel_backend(pid))::text FROM pg_stat_activity
WHERE state = 'active' AND starts_with(query, ${literal(markOf(owner))})`;
  }

  /** Fails outside a transaction. Takes a lock that `record` takes anyway. Returns nothing. */
  get assertTransaction(): string {
    return `LOCK TABLE ${this.#payments} IN ROW EXCLUSIVE MODE`;
  }

  /** Returns `recorded`, or nothing if a stored payment prevents it. */
  record(key: string, { body, digest }: Intent): string {
    return `INSERT INTO ${this.#payments} AS row (reference, body, digest, state)
VALUES (${literal(key)}, ${text(body)}, ${literal(digest)}, 'recorded')
ON CONFLICT (reference) DO UPDATE SET
  state = 'recorded', body = excluded.body, digest = excluded.digest, changed_at = ${NOW}
WHERE row.state = 'rejected'
RETURNING row.state`;
  }

  /** Changes the row, unless it has another owner. */
  finish(key: string, owner: string, result: Result): string {
    return `UPDATE ${this.#payments} SET ${endedBy(result)}
WHERE reference = ${literal(key)} AND owner = ${literal(owner)}`;
  }

  /** Returns the outcome. Commits durably: the callback is acknowledged after this, so the service does not repeat it. */
  settle(key: string, finding: Finding): string {
    const { referenceNumber, payment, updatedAtUs } = finding;
    const number = text(referenceNumber);
    const age = whole(updatedAtUs);
    return `WITH found AS MATERIALIZED (
  SELECT body, payment_updated_at_us AS us, CASE
    WHEN state <> 'created' THEN 'settled'
    WHEN ${number} IS NULL THEN 'as it is'
    WHEN reference_number IS NULL THEN 'settled'
    WHEN reference_number <> ${number} THEN 'second-payment'
    WHEN coalesce(${age}, 0) < coalesce(payment_updated_at_us, 0) THEN 'as it is'
    ELSE 'known' END AS outcome
  FROM ${this.#payments} WHERE reference = ${literal(key)} FOR UPDATE
), settled AS (
  UPDATE ${this.#payments} AS row SET ${endedBy({ state: 'created', finding })}
  FROM found WHERE row.reference = ${literal(key)} AND found.outcome IN ('settled', 'known')
), second AS (
  INSERT INTO ${this.#seconds} AS row
    (reference, reference_number, body, payment, payment_updated_at_us)
  SELECT ${literal(key)}, ${number}::text, body, ${text(payment)}, ${age}::bigint
  FROM found WHERE outcome = 'second-payment'
  ON CONFLICT (reference, reference_number) DO UPDATE SET
    payment = excluded.payment, payment_updated_at_us = excluded.payment_updated_at_us
  WHERE coalesce(excluded.payment_updated_at_us, 0) >= coalesce(row.payment_updated_at_us, 0)
)
SELECT coalesce(
  (SELECT CASE outcome WHEN 'as it is' THEN 'known' ELSE outcome END FROM found), 'not-ours')
  || ${DURABLY}`;
  }

  /** Returns the row; nothing if it is not unresolved. */
  resolve(key: string, result: Result): string {
    return `UPDATE ${this.#payments} AS row SET ${endedBy(result)}
WHERE row.reference = ${literal(key)} AND (row.state = 'unresolved' OR ${EXPIRED})
RETURNING ${ROW}::text`;
  }

  /** Returns the row. */
  read(key: string): string {
    return `SELECT ${ROW}::text FROM ${this.#payments} AS row WHERE row.reference = ${literal(key)}`;
  }

  /** Returns how many. Skips payments that are being settled. */
  expire(): string {
    return `WITH expired AS (
  UPDATE ${this.#payments} SET state = 'unresolved', changed_at = ${NOW}
  WHERE reference IN (SELECT reference FROM ${this.#payments} AS row
    WHERE ${EXPIRED} FOR UPDATE SKIP LOCKED)
  RETURNING 1
)
SELECT count(*)::text FROM expired`;
  }

  /** Returns a list of rows. */
  listRecorded(page: Page): string {
    return this.#list(`row.state = 'recorded'`, 'row.changed_at', page);
  }

  /** Returns a list of rows. */
  listUnresolved(page: Page): string {
    return this.#list(`(row.state = 'unresolved' OR ${EXPIRED})`, 'row.sent_at', page);
  }

  #list(condition: string, time: string, { olderThanMs, after, limit }: Page): string {
    const behind =
      after === undefined
        ? ''
        : ` AND (${time}, row.reference) > (${at(after.atMs)}, ${literal(after.key)})`;
    const isOld =
      olderThanMs === 0 ? '' : ` AND ${time} <= ${NOW} - interval '${olderThanMs} milliseconds'`;
    // The first condition matches that of the partial index.
    return `SELECT coalesce(json_agg(entry), '[]')::text FROM (
  SELECT ${ROW} AS entry FROM ${this.#payments} AS row
  WHERE row.state NOT IN ('created', 'rejected') AND ${condition}${isOld}${behind}
  ORDER BY ${time}, row.reference LIMIT ${limit}
) AS page`;
  }

  /** Returns a list of second payments. */
  listSecondPayments(after: StoredSecondPayment | undefined, limit: number): string {
    const behind =
      after === undefined
        ? ''
        : `WHERE (found_at, reference, reference_number) >
    (${at(after.foundAtMs)}, ${literal(after.key)}, ${literal(after.referenceNumber)})`;
    return `SELECT coalesce(json_agg(entry), '[]')::text FROM (
  SELECT json_build_array(reference, body, reference_number, payment, ${ms('found_at')}) AS entry
  FROM ${this.#seconds} ${behind}
  ORDER BY found_at, reference, reference_number LIMIT ${limit}
) AS page`;
  }

  /** Returns how many payments. Skips locked rows. */
  prune(olderThan: Date, limit: number): string {
    const before = at(olderThan.getTime());
    return `WITH seconds AS (
  DELETE FROM ${this.#seconds} WHERE found_at < ${before}
), old AS (
  SELECT reference FROM ${this.#payments}
  WHERE recorded_at < ${before} AND changed_at < ${before} AND state IN ('created', 'rejected')
  LIMIT ${limit} FOR UPDATE SKIP LOCKED
), deleted AS (
  DELETE FROM ${this.#payments} WHERE reference IN (SELECT reference FROM old) RETURNING 1
)
SELECT count(*)::text FROM deleted`;
  }
}

/** The changes after any end of an attempt to send. */
function endedBy(result: Result): string {
  const changes = [
    `state = '${result.state}'`,
    'owner = NULL',
    'lease_until = NULL',
    `changed_at = ${NOW}`,
    `failure = ${text(result.failure)}`,
  ];
  if (result.state === 'created') {
    const { referenceNumber, payment, updatedAtUs } = result.finding;
    changes.push(
      `reference_number = ${text(referenceNumber)}`,
      `payment = ${text(payment)}`,
      `payment_updated_at_us = ${whole(updatedAtUs)}`,
    );
  }
  return changes.join(', ');
}
