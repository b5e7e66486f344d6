import { randomInt } from 'node:crypto';
import type { StoredEvent } from '../store/stored-event.js';
import type { QuotedTables } from './inbox-options.js';
import { literal } from './literal.js';
import { ASSERT_BEGUN, NOW_US, type SessionLimits, toSeconds } from './session.js';

/** The state at the time of the claim that is needed to record the event. */
export interface HeldClaim {
  /** The watermark after this event: when the newest change of the payment happened, in epoch microseconds. */
  readonly latestUs: string;
  /** Whether a failure of the event is stored, which recording it must delete. */
  readonly hasFailed: boolean;
}

/** How many rows the payments share as locks. */
export const LOCKS = 65_536;
// The limit of randomInt.
const MAX_HOLDER = 2 ** 48 - 1;
/** The answer of the procedure when another callback holds the lock. No row of an event has this text. */
export const WAIT = 'wait';

/**
 * The row whose lock serializes the changes of a payment, from an SQL expression for the reference. Payments whose
 * checksums end in the same 16 bits share a row, and wait for each other.
 *
 * Measured on MariaDB 10.11, with twelve connections queued for one payment, fifty rounds: row locks and GET_LOCK
 * are both granted in the order of arrival (MySQL 8 documents the same for row locks: of equal weights, the
 * longest waiting). Row locks are used because they are released with the transaction, however it ends. A GET_LOCK
 * outlives the COMMIT, so it costs one more message, could be left behind on a
 * connection that returns to the pool, and can't be held if an ORM owns the transaction. The rows exist in advance,
 * because a payment's own row would be inserted by its first change, and if that is rolled back, the
 * waiting changes deadlock.
 */
export function lockRow(reference: string): string {
  return `CRC32(${reference}) & ${LOCKS - 1}`;
}

/**
 * Selects the state of a payment: for each processed change, a text with its watermark and its key; for each stored
 * failure, a text with `parked` or `failed`, when its change happened, and its key.
 */
export function selectState(
  { events, failures }: Pick<QuotedTables, 'events' | 'failures'>,
  reference: string,
): string {
  return `${selectEvents({ events }, reference)}
  UNION ALL SELECT CONCAT(IF(parked, 'parked ', 'failed '), occurred_at_us, ' ', event_key) FROM ${failures} WHERE payment_reference = ${reference}`;
}

/** The same for a payment without stored failures. */
export function selectEvents({ events }: Pick<QuotedTables, 'events'>, reference: string): string {
  return `SELECT CONCAT(latest_us, ' ', event_key) FROM ${events} WHERE payment_reference = ${reference}`;
}

/** The condition that the change of a row with the alias `failure` was not processed. */
export function isUnprocessed(events: string): string {
  return `NOT EXISTS (SELECT 1 FROM ${events} AS event
    WHERE event.payment_reference = failure.payment_reference AND event.event_key = failure.event_key)`;
}

/** The statement that deletes the failure of an event. */
export function forgetFailure(
  { failures }: Pick<QuotedTables, 'failures'>,
  { reference, key }: Pick<EventExpressions, 'reference' | 'key'>,
): string {
  return `DELETE FROM ${failures} WHERE payment_reference = ${reference} AND event_key = ${key}`;
}

/** SQL expressions for an event's columns, except for when it was processed. */
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

/** Uses the procedures of the schema: one message for each. */
export function callProcedures({ claim, record }: QuotedTables) {
  return {
    /** Begins the transaction. Returns {@link WAIT}, or the rows of {@link selectState}, if there are any. */
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

/** Does the same without the procedures. */
export function withoutProcedures(tables: QuotedTables) {
  return {
    /** Locks the payment. Returns one row, or none if the table lacks the row. */
    lock: ({ reference }: StoredEvent, lockTimeoutMs: number): string =>
      `${atMost(lockTimeoutMs)} 'locked' FROM ${tables.locks} WHERE lock_number = ${lockRow(literal(reference))} FOR UPDATE`,
    read: ({ reference }: StoredEvent): string => selectState(tables, literal(reference)),
    record: (
      { reference, key, occurredAtUs }: StoredEvent,
      { latestUs, hasFailed }: HeldClaim,
    ): readonly string[] => {
      const event = { reference: literal(reference), key: literal(key), occurredAtUs, latestUs };
      const forget = hasFailed ? [forgetFailure(tables, event)] : [];
      return [ASSERT_BEGUN, insertEvent(tables, event), ...forget];
    },
    /**
     * The same for an ORM's connection, on which queries of the work may still be running unseen. If one of them
     * deadlocks, the server rolls the transaction back, and the following statements start a new one. So the event
     * is inserted only if the row of locks still has the number that this transaction wrote.
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
    /** Returns a row if the event was processed. */
    isRecorded: ({ reference, key }: StoredEvent): string =>
      `SELECT 'recorded' FROM ${tables.events} WHERE payment_reference = ${literal(reference)} AND event_key = ${literal(key)}`,
  };
}

/**
 * The beginning of a SELECT with a time limit in milliseconds: MariaDB executes the first
 * comment, MySQL reads the second as a hint. Their lock timeouts count in whole seconds.
 */
function atMost(timeoutMs: number): string {
  return `/*M!100600 SET STATEMENT max_statement_time = ${timeoutMs / 1000} FOR */SELECT /*+ MAX_EXECUTION_TIME(${timeoutMs}) */`;
}

/** Selects the session's database, or an empty text if there is none. */
export const DATABASE = "SELECT COALESCE(DATABASE(), '')";
