import { randomInt } from 'node:crypto';
import { literal } from '../../storage/mysql/literal.js';
import {
  ASSERT_BEGUN,
  NOW_US,
  type SessionLimits,
  toSeconds,
} from '../../storage/mysql/session.js';
import type { StoredEvent } from '../stored-event.js';
import type { QuotedTables } from './options.js';

/** What is needed to record a claimed event, as it was when it was claimed. */
export interface HeldClaim {
  /** When the latest change of the payment happened, this one included, in epoch microseconds. */
  readonly latestUs: string;
  /** Whether a failure of the event is kept, to be forgotten with it. */
  readonly hasFailed: boolean;
}

/** How many rows the payments share to wait for. */
export const LOCKS = 65_536;
// What randomInt gives at most.
const MAX_HOLDER = 2 ** 48 - 1;
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

/**
 * What is known of a payment: a text for each processed change, of when the latest one by then happened and
 * its key; and for each kept failure, of whether it is parked, when its change happened and its key.
 */
export function lookAt(
  { events, failures }: Pick<QuotedTables, 'events' | 'failures'>,
  reference: string,
): string {
  return `${lookAtEvents({ events }, reference)}
  UNION ALL SELECT CONCAT(IF(parked, 'parked ', 'failed '), occurred_at_us, ' ', event_key) FROM ${failures} WHERE payment_reference = ${reference}`;
}

/** The same of a payment without a kept failure. */
export function lookAtEvents({ events }: Pick<QuotedTables, 'events'>, reference: string): string {
  return `SELECT CONCAT(latest_us, ' ', event_key) FROM ${events} WHERE payment_reference = ${reference}`;
}

/** Whether a row named `failure` is of a change that was not processed. */
export function isUnprocessed(events: string): string {
  return `NOT EXISTS (SELECT 1 FROM ${events} AS event
    WHERE event.payment_reference = failure.payment_reference AND event.event_key = failure.event_key)`;
}

/** The statement that forgets the failure of an event. */
export function forgetFailure(
  { failures }: Pick<QuotedTables, 'failures'>,
  { reference, key }: Pick<EventExpressions, 'reference' | 'key'>,
): string {
  return `DELETE FROM ${failures} WHERE payment_reference = ${reference} AND event_key = ${key}`;
}

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
  form: 'VALUES' | 'SELECT' = 'VALUES',
): string {
  const values = `${reference}, ${key}, ${occurredAtUs}, ${latestUs}, ${NOW_US}`;
  return `INSERT INTO ${events} (payment_reference, event_key, occurred_at_us, latest_us, processed_at_us)
  ${form === 'VALUES' ? `VALUES (${values})` : `SELECT ${values}`}`;
}

/** By the procedures of the schema: a message each. */
export function callProcedures({ claim, record }: QuotedTables) {
  return {
    /** Gives {@link WAIT}, with the transaction begun, or the rows of {@link lookAt}, if there are any. */
    claim: ({ reference }: StoredEvent, { lockTimeoutMs, idleTimeoutMs }: SessionLimits): string =>
      `CALL ${claim}(${literal(reference)}, ${toSeconds(lockTimeoutMs)}, ${toSeconds(idleTimeoutMs)})`,
    record: (
      { reference, key, occurredAtUs }: StoredEvent,
      { latestUs, hasFailed }: HeldClaim,
    ): readonly string[] => [
      `CALL ${record}(${literal(reference)}, ${literal(key)}, ${occurredAtUs}, ${latestUs}, ${hasFailed})`,
    ],
  };
}

/** The same where the procedures are not there. */
export function withoutProcedures(tables: QuotedTables) {
  return {
    /** Waits for the payment. Gives a text, and nothing where the table lacks the row. */
    lock: ({ reference }: StoredEvent, lockTimeoutMs: number): string =>
      `${atMost(lockTimeoutMs)} 'locked' FROM ${tables.locks} WHERE lock_number = ${lockRow(literal(reference))} FOR UPDATE`,
    look: ({ reference }: StoredEvent): string => lookAt(tables, literal(reference)),
    record: (
      { reference, key, occurredAtUs }: StoredEvent,
      { latestUs, hasFailed }: HeldClaim,
    ): readonly string[] => {
      const event = { reference: literal(reference), key: literal(key), occurredAtUs, latestUs };
      const forget = hasFailed ? [forgetFailure(tables, event)] : [];
      return [ASSERT_BEGUN, insertEvent(tables, event), ...forget];
    },
    /**
     * The same on a connection where a query of the work may still be running, as the ORM alone knows. One that
     * meets a deadlock has the server roll back, and take what follows for a transaction of its own: the event
     * is inserted only where the row of locks has what this transaction wrote to it.
     */
    recordIfHeld: (
      { reference, key, occurredAtUs }: StoredEvent,
      { latestUs, hasFailed }: HeldClaim,
    ): readonly string[] => {
      const event = { reference: literal(reference), key: literal(key), occurredAtUs, latestUs };
      const isInserted = `EXISTS (SELECT 1 FROM ${tables.events} WHERE payment_reference = ${event.reference} AND event_key = ${event.key})`;
      const forget = hasFailed ? [`${forgetFailure(tables, event)} AND ${isInserted}`] : [];
      const row = `lock_number = ${lockRow(event.reference)}`;
      const holder = randomInt(1, MAX_HOLDER);
      return [
        `UPDATE ${tables.locks} SET holder = ${holder} WHERE ${row}`,
        ASSERT_BEGUN,
        `${insertEvent(tables, event, 'SELECT')} FROM ${tables.locks} WHERE ${row} AND holder = ${holder}`,
        ...forget,
      ];
    },
    /** Gives a row when the event was processed. */
    isRecorded: ({ reference, key }: StoredEvent): string =>
      `SELECT 'recorded' FROM ${tables.events} WHERE payment_reference = ${literal(reference)} AND event_key = ${literal(key)}`,
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
