import type { SqliteValue } from '../../storage/sqlite/database.js';
import type { Claim, Finding, Intent, Page, Result, StoredSecondPayment } from '../store.js';

/** A statement with the values of its parameters. */
export interface Statement {
  readonly text: string;
  readonly values: readonly SqliteValue[];
}

/** A part of a statement that is not a value. */
class Raw {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Part = SqliteValue | undefined | Raw | Statement;

function isStatement(part: Part): part is Statement {
  return typeof part === 'object' && part !== null && 'values' in part;
}

function sql(texts: TemplateStringsArray, ...parts: readonly Part[]): Statement {
  let text = texts[0] as string;
  const values: SqliteValue[] = [];
  for (const [index, part] of parts.entries()) {
    if (part instanceof Raw) text += part.text;
    else if (isStatement(part)) {
      text += part.text;
      values.push(...part.values);
    } else {
      text += '?';
      values.push(part ?? null);
    }
    text += texts[index + 1];
  }
  return { text, values };
}

const expired = (nowMs: number) => sql`(state = 'sending' AND lease_until_ms <= ${nowMs})`;

/** A row as JSON: a list, in the order in which `parseRow` reads it. */
const rowAt = (nowMs: number) => sql`json_array(reference, body, digest,
  CASE WHEN ${expired(nowMs)} THEN 'unresolved' ELSE state END, attempts,
  recorded_at_ms, sent_at_ms, changed_at_ms, reference_number, payment, failure)`;

/** The statements of an outbox. Each except {@link tables} returns at most one value. */
export class Statements {
  readonly tables: string;
  readonly #payments: Raw;
  readonly #seconds: Raw;

  constructor(prefix: string) {
    this.#payments = new Raw(`"${prefix}payments"`);
    this.#seconds = new Raw(`"${prefix}second_payments"`);
    this.tables = `
      CREATE TABLE IF NOT EXISTS ${this.#payments.text} (
        reference TEXT PRIMARY KEY,
        body TEXT NOT NULL,
        digest TEXT NOT NULL,
        state TEXT NOT NULL,
        owner TEXT,
        lease_until_ms INTEGER,
        attempts INTEGER NOT NULL,
        recorded_at_ms INTEGER NOT NULL,
        sent_at_ms INTEGER,
        changed_at_ms INTEGER NOT NULL,
        reference_number TEXT,
        payment TEXT,
        payment_updated_at_us INTEGER,
        failure TEXT
      ) WITHOUT ROWID;
      CREATE TABLE IF NOT EXISTS ${this.#seconds.text} (
        reference TEXT NOT NULL,
        reference_number TEXT NOT NULL,
        body TEXT NOT NULL,
        payment TEXT NOT NULL,
        payment_updated_at_us INTEGER,
        found_at_ms INTEGER NOT NULL,
        PRIMARY KEY (reference, reference_number)
      ) WITHOUT ROWID;
      CREATE INDEX IF NOT EXISTS "${prefix}payments_open" ON ${this.#payments.text} (state)
        WHERE state NOT IN ('created', 'rejected');
      CREATE INDEX IF NOT EXISTS "${prefix}payments_changed_at" ON ${this.#payments.text} (changed_at_ms);
    `;
  }

  /** Returns the row if it was claimed, or has become unresolved. */
  claim({ key, intent, owner, allowsRejected, leaseMs }: Claim, nowMs: number): Statement {
    const change = sql`attempts = attempts + (state <> 'sending'),
      owner = CASE state WHEN 'sending' THEN owner ELSE ${owner} END,
      lease_until_ms = CASE state WHEN 'sending' THEN lease_until_ms ELSE ${nowMs + leaseMs} END,
      sent_at_ms = CASE state WHEN 'sending' THEN sent_at_ms ELSE ${nowMs} END,
      failure = NULL, changed_at_ms = ${nowMs},
      state = CASE state WHEN 'sending' THEN 'unresolved' ELSE 'sending' END`;
    const rejected = new Raw(allowsRejected ? `state = 'rejected'` : 'false');
    if (intent === undefined) {
      return sql`UPDATE ${this.#payments} SET ${change}
        WHERE reference = ${key} AND (state = 'recorded' OR ${rejected} OR ${expired(nowMs)})
        RETURNING ${rowAt(nowMs)}`;
    }
    return sql`INSERT INTO ${this.#payments} (reference, body, digest, state, owner,
        lease_until_ms, attempts, recorded_at_ms, sent_at_ms, changed_at_ms)
      VALUES (${key}, ${intent.body}, ${intent.digest}, 'sending', ${owner},
        ${nowMs + leaseMs}, 1, ${nowMs}, ${nowMs}, ${nowMs})
      ON CONFLICT (reference) DO UPDATE SET ${change},
        body = CASE state WHEN 'sending' THEN body ELSE excluded.body END,
        digest = CASE state WHEN 'sending' THEN digest ELSE excluded.digest END
      WHERE ${rejected} OR ${expired(nowMs)}
        OR (state = 'recorded' AND digest = excluded.digest)
      RETURNING ${rowAt(nowMs)}`;
  }

  /** Changes one row, or none if a stored payment prevents it. */
  record(key: string, { body, digest }: Intent, nowMs: number): Statement {
    return sql`INSERT INTO ${this.#payments}
        (reference, body, digest, state, attempts, recorded_at_ms, changed_at_ms)
      VALUES (${key}, ${body}, ${digest}, 'recorded', 0, ${nowMs}, ${nowMs})
      ON CONFLICT (reference) DO UPDATE SET state = 'recorded',
        body = excluded.body, digest = excluded.digest, changed_at_ms = ${nowMs}
      WHERE state = 'rejected'`;
  }

  /** Returns the row; nothing if it has another owner. */
  finish(key: string, owner: string, result: Result, nowMs: number): Statement {
    return sql`UPDATE ${this.#payments} SET ${endedBy(result, nowMs)}
      WHERE reference = ${key} AND owner = ${owner}
      RETURNING ${rowAt(nowMs)}`;
  }

  /** Returns the outcome of a finding, or `as it is` for a known one that changes nothing. */
  outcomeOf(key: string, { referenceNumber, updatedAtUs }: Finding): Statement {
    return sql`SELECT CASE
        WHEN state <> 'created' THEN 'settled'
        WHEN ${referenceNumber} IS NULL THEN 'as it is'
        WHEN reference_number IS NULL THEN 'settled'
        WHEN reference_number <> ${referenceNumber} THEN 'second-payment'
        WHEN ${updatedAtUs ?? 0} < coalesce(payment_updated_at_us, 0) THEN 'as it is'
        ELSE 'known' END
      FROM ${this.#payments} WHERE reference = ${key}`;
  }

  settle(key: string, finding: Finding, nowMs: number): Statement {
    return sql`UPDATE ${this.#payments} SET ${endedBy({ state: 'created', finding }, nowMs)}
      WHERE reference = ${key}`;
  }

  addSecond(key: string, finding: Finding, nowMs: number): Statement {
    const { referenceNumber, payment, updatedAtUs } = finding;
    return sql`INSERT INTO ${this.#seconds}
        (reference, reference_number, body, payment, payment_updated_at_us, found_at_ms)
      SELECT ${key}, ${referenceNumber}, body, ${payment}, ${updatedAtUs}, ${nowMs}
      FROM ${this.#payments} WHERE reference = ${key}
      ON CONFLICT (reference, reference_number) DO UPDATE SET
        payment = excluded.payment, payment_updated_at_us = excluded.payment_updated_at_us
      WHERE coalesce(excluded.payment_updated_at_us, 0) >= coalesce(payment_updated_at_us, 0)`;
  }

  /** Changes one row, or none if the payment is not unresolved. */
  resolve(key: string, result: Result, nowMs: number): Statement {
    return sql`UPDATE ${this.#payments} SET ${endedBy(result, nowMs)}
      WHERE reference = ${key} AND (state = 'unresolved' OR ${expired(nowMs)})`;
  }

  /** Returns the row. */
  read(key: string, nowMs: number): Statement {
    return sql`SELECT ${rowAt(nowMs)} FROM ${this.#payments} WHERE reference = ${key}`;
  }

  /** Changes one row for each payment. */
  expire(nowMs: number): Statement {
    return sql`UPDATE ${this.#payments} SET state = 'unresolved', changed_at_ms = ${nowMs}
      WHERE ${expired(nowMs)}`;
  }

  /** Returns a list of rows. */
  listRecorded(page: Page, nowMs: number): Statement {
    return this.#list(sql`state = 'recorded'`, new Raw('changed_at_ms'), page, nowMs);
  }

  /** Returns a list of rows. */
  listUnresolved(page: Page, nowMs: number): Statement {
    const condition = sql`(state = 'unresolved' OR ${expired(nowMs)})`;
    return this.#list(condition, new Raw('sent_at_ms'), page, nowMs);
  }

  #list(condition: Statement, time: Raw, page: Page, nowMs: number): Statement {
    const { olderThanMs, after, limit } = page;
    const behind = after
      ? sql`AND (${time}, reference) > (${after.atMs}, ${after.key})`
      : new Raw('');
    const isOld = olderThanMs === 0 ? new Raw('') : sql`AND ${time} <= ${nowMs - olderThanMs}`;
    // The first condition matches that of the partial index.
    return sql`SELECT json_group_array(json(entry)) FROM (
        SELECT ${rowAt(nowMs)} AS entry FROM ${this.#payments}
        WHERE state NOT IN ('created', 'rejected') AND ${condition} ${isOld} ${behind}
        ORDER BY ${time}, reference LIMIT ${limit})`;
  }

  /** Returns a list of second payments. */
  listSecondPayments(after: StoredSecondPayment | undefined, limit: number): Statement {
    const behind = after
      ? sql`WHERE (found_at_ms, reference, reference_number) >
          (${after.foundAtMs}, ${after.key}, ${after.referenceNumber})`
      : new Raw('');
    return sql`SELECT json_group_array(json(entry)) FROM (
        SELECT json_array(reference, body, reference_number, payment, found_at_ms) AS entry
        FROM ${this.#seconds} ${behind}
        ORDER BY found_at_ms, reference, reference_number LIMIT ${limit})`;
  }

  /** Deletes one row for each payment. */
  prune(beforeMs: number, limit: number): Statement {
    return sql`DELETE FROM ${this.#payments} WHERE reference IN (
        SELECT reference FROM ${this.#payments}
        WHERE changed_at_ms < ${beforeMs} AND state IN ('created', 'rejected')
        ORDER BY changed_at_ms LIMIT ${limit})`;
  }

  pruneSeconds(beforeMs: number): Statement {
    return sql`DELETE FROM ${this.#seconds} WHERE found_at_ms < ${beforeMs}`;
  }
}

/** The changes after any end of an attempt to send. */
function endedBy(result: Result, nowMs: number): Statement {
  const ended = sql`state = ${result.state}, owner = NULL, lease_until_ms = NULL,
    changed_at_ms = ${nowMs}, failure = ${result.failure}`;
  if (result.state !== 'created') return ended;
  const { referenceNumber, payment, updatedAtUs } = result.finding;
  return sql`${ended}, reference_number = ${referenceNumber}, payment = ${payment},
    payment_updated_at_us = ${updatedAtUs}`;
}
