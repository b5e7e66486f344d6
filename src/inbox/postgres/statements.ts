import { literal } from '../../storage/postgres/literal.js';
import { withoutSchema } from '../../storage/postgres/names.js';
import type { StoredEvent } from '../stored-event.js';
import type { QuotedTables } from './options.js';

/** What is needed to record a claimed event, as it was when it was claimed. */
export interface HeldClaim {
  /** Whether a failure of the event is kept, to be forgotten with it. */
  readonly hasFailed: boolean;
  readonly transactionId: string;
  /** The work may change it for its transaction. */
  readonly role: string;
  /** Where the functions are, quoted; without them the `search_path`, which the work may change too. */
  readonly home: string;
}

/** How long Postgres waits, in milliseconds. */
export interface ClaimTimeouts {
  readonly lockTimeoutMs: number;
  /** For the next statement of the transaction; 0 for ever. */
  readonly idleTimeoutMs: number;
}

/**
 * Statements that claim an event. The last one gives `duplicate`, or a JSON list of texts: `claimed` or
 * `stale`; the transaction, the role and the home of a {@link HeldClaim}; and what is kept of failures,
 * in words: `failed` or `parked` for the event itself, `blocked` for each earlier one that is parked.
 */
export type ClaimStatements = (event: StoredEvent, timeouts: ClaimTimeouts) => readonly string[];

/** Statements that record a claimed event, or fail. */
export type RecordStatements = (event: StoredEvent, held: HeldClaim) => readonly string[];

/** By the functions of the schema, which Postgres plans once for each connection. */
export function callFunctions({ payments, claim, record }: QuotedTables) {
  const recordName = withoutSchema(record);
  return {
    claim: ({ reference, key, occurredAtUs }, { lockTimeoutMs, idleTimeoutMs }) => [
      `SELECT ${claim}('${payments}', ${literal(reference)}, ${literal(key)}, '${occurredAtUs}', '${lockTimeoutMs}', '${idleTimeoutMs}')`,
    ],
    // With no column: pg takes as long to prepare for one as for the rest of the answer.
    record: ({ reference, key, occurredAtUs }, { role, home, transactionId, hasFailed }) => [
      `SET LOCAL ROLE ${literal(role)}`,
      `SELECT FROM ${home}.${recordName}(${literal(reference)}, ${literal(key)}, '${occurredAtUs}', '${transactionId}', ${hasFailed})`,
    ],
  } satisfies { claim: ClaimStatements; record: RecordStatements };
}

/** The same where the functions are not there. */
export function withoutFunctions({ payments, events, failures }: QuotedTables) {
  const tables = { payments, events, failures };
  return {
    // Settings and the look are statements beside the lock's: the snapshot of one statement is from
    // before the wait.
    claim: (stored, { lockTimeoutMs, idleTimeoutMs }) => {
      const event = quoteEvent(stored);
      return [
        `SELECT set_config('merchant_payments.lock_timeout', current_setting('lock_timeout'), true),
  set_config('lock_timeout', '${lockTimeoutMs}', true),
  set_config('idle_in_transaction_session_timeout', '${idleTimeoutMs}', true),
  set_config('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'), true)`,
        `SELECT pg_advisory_xact_lock(${lockKey(event.reference, `'${payments}'::regclass`)})::text`,
        `SELECT ${claimAnswer(tables, event, "current_setting('search_path')")},
  set_config('lock_timeout', current_setting('merchant_payments.lock_timeout'), true)`,
      ];
    },
    record: (stored, held) => {
      const event = quoteEvent(stored);
      // Of the path the role decides what `$user` is.
      return [
        `SET LOCAL ROLE ${literal(held.role)}`,
        `SELECT set_config('search_path', ${literal(held.home)}, true)`,
        `SELECT width_bucket(0, 0, 1, (txid_current() = '${held.transactionId}')::int)`,
        ...recordEvent(tables, event),
        ...(held.hasFailed ? [forgetFailure(tables, event)] : []),
      ];
    },
  } satisfies { claim: ClaimStatements; record: RecordStatements };
}

/** SQL expressions for an event's fields. */
interface EventExpressions {
  readonly reference: string;
  readonly key: string;
  readonly occurredAtUs: string;
}

function quoteEvent({ reference, key, occurredAtUs }: StoredEvent): EventExpressions {
  return {
    reference: literal(reference),
    key: literal(key),
    occurredAtUs: literal(occurredAtUs),
  };
}

type Tables = Pick<QuotedTables, 'payments' | 'events' | 'failures'>;

/**
 * The lock that the changes of a payment wait for. An advisory lock is granted in the order of arrival,
 * which a row's lock is not. By the table's oid, as its name may be written with and without its schema.
 */
export function lockKey(reference: string, payments: string): string {
  return `hashtextextended(${reference}, ${payments}::oid::bigint)`;
}

/** What a claim gives when it has the lock. */
export function claimAnswer(tables: Tables, event: EventExpressions, home: string): string {
  const { payments, events } = tables;
  const { reference, key, occurredAtUs } = event;
  return `CASE
    WHEN EXISTS (SELECT FROM ${events} WHERE payment_reference = ${reference} AND key = ${key}) THEN 'duplicate'
    ELSE json_build_array(
      CASE WHEN (SELECT occurred_at_us > ${occurredAtUs} FROM ${payments} WHERE payment_reference = ${reference})
        THEN 'stale' ELSE 'claimed' END,
      txid_current()::text, current_setting('role'), ${home},
      ${seenFailures(tables, event)})::text
  END`;
}

// A failure may have been kept of a change that was being processed elsewhere: one with an event is none.
function seenFailures(
  { events, failures }: Tables,
  { reference, key, occurredAtUs }: EventExpressions,
): string {
  return `coalesce((SELECT string_agg(CASE WHEN key <> ${key} THEN 'blocked' WHEN parked THEN 'parked' ELSE 'failed' END, ' ')
        FROM ${failures} AS failure WHERE payment_reference = ${reference} AND (key = ${key}
          OR parked AND (occurred_at_us, key) < (${occurredAtUs}, ${key}) AND ${isUnprocessed(events)})), '')`;
}

/** Whether a row named `failure` is of a change that was not processed. */
export function isUnprocessed(events: string): string {
  return `NOT EXISTS (SELECT FROM ${events} AS event
            WHERE event.payment_reference = failure.payment_reference AND event.key = failure.key)`;
}

/** The statement that forgets the failure of an event. */
export function forgetFailure(
  { failures }: Pick<Tables, 'failures'>,
  { reference, key }: Pick<EventExpressions, 'reference' | 'key'>,
): string {
  return `DELETE FROM ${failures} WHERE payment_reference = ${reference} AND key = ${key}`;
}

/** The two statements that record an event. */
export function recordEvent(
  { payments, events }: Pick<Tables, 'payments' | 'events'>,
  { reference, key, occurredAtUs }: EventExpressions,
): readonly string[] {
  return [
    `INSERT INTO ${events} (payment_reference, key, occurred_at_us)
  VALUES (${reference}, ${key}, ${occurredAtUs})`,
    `INSERT INTO ${payments} AS payment (payment_reference, occurred_at_us)
  VALUES (${reference}, ${occurredAtUs})
  ON CONFLICT (payment_reference) DO UPDATE SET
    occurred_at_us = GREATEST(payment.occurred_at_us, excluded.occurred_at_us),
    changed_at = GREATEST(payment.changed_at, excluded.changed_at)`,
  ];
}
