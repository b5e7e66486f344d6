import {
  ASSERT_BEGUN,
  beginStatements,
  COMMIT,
  RESTORE,
  type SessionLimits,
  toSeconds,
} from '../../storage/mysql/session.js';
import type { QuotedTables } from './options.js';

/** An event as the table keeps it. */
export interface StoredEvent {
  readonly reference: string;
  readonly key: string;
  /** When it happened, in epoch microseconds: digits, as a bigint is beyond what a number holds. */
  readonly occurredAtUs: string;
  readonly processStale: boolean;
}

/** What is needed to record a claimed event, as it was when it was claimed. */
export interface HeldClaim {
  /** When the latest change of the payment happened, this one included, in epoch microseconds. */
  readonly latestUs: string;
}

/** How many rows the payments share to wait for. */
export const LOCKS = 65_536;
/** What the procedure gives when another callback holds the lock. No row of an event reads so. */
export const WAIT = 'wait';

/**
 * The row that the changes of a payment wait for, by an SQL expression for its reference. It is shared with
 * the payments whose checksum ends in the same 16 bits: they wait for each other as well.
 *
 * Measured on MariaDB 10.11, twelve connections in line for one payment, fifty rounds: rows and GET_LOCK
 * are both granted in the order of arrival (MySQL 8 documents the same for rows: of equal weights, the
 * longest waiting). Rows, because they are freed with the transaction, however that ends: a lock of GET_LOCK
 * stays with the session after COMMIT, so that it costs one more message, must not be left behind on a
 * connection that goes back to the pool, and can't be held where an ORM owns the transaction. Rows that
 * are there already, because a payment's own would be inserted by its first change: when that is rolled back,
 * those who wait for it meet a deadlock.
 */
export function lockRow(reference: string): string {
  return `CRC32(${reference}) & ${LOCKS - 1}`;
}

/** What is known of a payment: a text for each of its changes, when the latest one happened and its key. */
export function lookAt({ events }: Pick<QuotedTables, 'events'>, reference: string): string {
  return `SELECT CONCAT(latest_us, ' ', event_key) FROM ${events} WHERE payment_reference = ${reference}`;
}

/** The current time in epoch microseconds, whatever the session's time zone is. */
export const NOW_US = "TIMESTAMPDIFF(MICROSECOND, '1970-01-01', UTC_TIMESTAMP(6))";

/** The columns of an event but for when it was processed, as SQL expressions. */
interface EventExpressions {
  readonly reference: string;
  readonly key: string;
  readonly occurredAtUs: string;
  readonly latestUs: string;
}

export function insertEvent(
  { events }: Pick<QuotedTables, 'events'>,
  { reference, key, occurredAtUs, latestUs }: EventExpressions,
): string {
  return `INSERT INTO ${events} (payment_reference, event_key, occurred_at_us, latest_us, processed_at_us)
  VALUES (${reference}, ${key}, ${occurredAtUs}, ${latestUs}, ${NOW_US})`;
}

/** By the procedures of the schema: a message each. */
export function callProcedures({ claim, record }: QuotedTables) {
  return {
    /** Gives {@link WAIT}, with the transaction begun, or what {@link lookAt} gives. */
    claim: ({ reference }: StoredEvent, { lockTimeoutMs, idleTimeoutMs }: SessionLimits): string =>
      `CALL ${claim}(${literal(reference)}, ${toSeconds(lockTimeoutMs)}, ${toSeconds(idleTimeoutMs)})`,
    record: (
      { reference, key, occurredAtUs }: StoredEvent,
      { latestUs }: HeldClaim,
    ): readonly string[] => [
      `CALL ${record}(${literal(reference)}, ${literal(key)}, ${occurredAtUs}, ${latestUs})`,
    ],
  };
}

/** The same where the procedures are not there. */
export function withoutProcedures(tables: QuotedTables) {
  return {
    begin: (limits: SessionLimits): readonly string[] => beginStatements(limits),
    /** Waits for the payment. Gives a text, and nothing where the table lacks the row. */
    lock: ({ reference }: StoredEvent, lockTimeoutMs: number): string =>
      `${atMost(lockTimeoutMs)} 'locked' FROM ${tables.locks} WHERE lock_number = ${lockRow(literal(reference))} FOR UPDATE`,
    look: ({ reference }: StoredEvent): string => lookAt(tables, literal(reference)),
    record: (
      { reference, key, occurredAtUs }: StoredEvent,
      { latestUs }: HeldClaim,
    ): readonly string[] => {
      const event = { reference: literal(reference), key: literal(key), occurredAtUs, latestUs };
      return [ASSERT_BEGUN, insertEvent(tables, event), COMMIT, RESTORE];
    },
  };
}

/**
 * The beginning of a SELECT that ends after so many milliseconds: MariaDB runs what stands in the first
 * comment, MySQL reads the second as a hint. The limits for locks of both count in seconds.
 */
function atMost(timeoutMs: number): string {
  return `/*M!100600 SET STATEMENT max_statement_time = ${timeoutMs / 1000} FOR */SELECT /*+ MAX_EXECUTION_TIME(${timeoutMs}) */`;
}

/** The session's database; empty for none. */
export const DATABASE = "SELECT COALESCE(DATABASE(), '')";

/** Text as a literal that means the same in every sql_mode and character set of the connection. */
export function literal(text: string): string {
  return /['\\]/.test(text)
    ? `_ascii X'${Buffer.from(text, 'latin1').toString('hex')}'`
    : `'${text}'`;
}
