import { literal } from './literal.js';
import { withoutSchema } from './names.js';
import type { StoredEvent } from '../store/stored-event.js';
import type { QuotedTables } from './inbox-options.js';

/** The state at the time of the claim that is needed to record the event. */
export interface HeldClaim {
  /** Whether a failure of the event is stored, which recording it must delete. */
  readonly hasFailed: boolean;
  readonly transactionId: string;
  /** The role, which the work may change for its transaction. */
  readonly role: string;
  /** The schema of the functions, quoted; without functions, the `search_path`, which the work may change too. */
  readonly home: string;
}

/** How long Postgres waits, in milliseconds. */
export interface ClaimTimeouts {
  readonly lockTimeoutMs: number;
  /** The limit for the next statement of the transaction; 0 for none. */
  readonly idleTimeoutMs: number;
}

/**
 * Statements that claim an event. The last one returns `duplicate`, or a JSON list of texts: `claimed` or
 * `stale`; the transaction, the role and the home of a {@link HeldClaim}; and the stored failures
 * as words: `failed` or `parked` for the event itself, `blocked` for each earlier one that is parked.
 */
export type ClaimStatements = (event: StoredEvent, timeouts: ClaimTimeouts) => readonly string[];

/** Statements that record a claimed event, or fail. */
export type RecordStatements = (event: StoredEvent, held: HeldClaim) => readonly string[];

/** Uses the functions of the schema, which Postgres plans once per connection. */
export function callFunctions({ payments, claim, record }: QuotedTables) {
  const recordName = withoutSchema(record);
  return {
    claim: ({ reference, key, occurredAtUs }, { lockTimeoutMs, idleTimeoutMs }) => [
      `SELECT ${claim}('${payments}', ${literal(reference)}, ${literal(key)}, '${occurredAtUs}', '${lockTimeoutMs}', '${idleTimeoutMs}')`,
    ],
    // SELECT without a column: to set up one column, pg takes as long as for the rest of the answer.
    record: ({ reference, key, occurredAtUs }, { role, home, transactionId, hasFailed }) => [
      `SET LOCAL ROLE ${literal(role)}`,
      `SELECT FROM ${home}.${recordName}(${literal(reference)}, ${literal(key)}, '${occurredAtUs}', '${transactionId}', ${hasFailed})`,
    ],
  } satisfies { claim: ClaimStatements; record: RecordStatements };
}

/** Does the same without the functions. */
export function withoutFunctions({ payments, events, failures }: QuotedTables) {
  const tables = { payments, events, failures };
  return {
    // Separate statements, because the snapshot of the one that waits for the lock dates from before the wait.
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
      // The role first: it determines `$user` in the search_path.
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
 * The key of the lock that serializes the changes of a payment. An advisory lock is granted in the order of
 * arrival, unlike a row lock. The key uses the table's oid, as the name may be written with or without its schema.
 */
export function lockKey(reference: string, payments: string): string {
  return `hashtextextended(${reference}, ${payments}::oid::bigint)`;
}

/** The expression for a claim's answer, evaluated with the lock held. */
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

// A failure may have been stored while the change was being processed elsewhere: it does not count if there is an
// event.
function seenFailures(
  { events, failures }: Tables,
  { reference, key, occurredAtUs }: EventExpressions,
): string {
  return `coalesce((SELECT string_agg(CASE WHEN key <> ${key} THEN 'blocked' WHEN parked THEN 'parked' ELSE 'failed' END, ' ')
        FROM ${failures} AS failure WHERE payment_reference = ${reference} AND (key = ${key}
          OR parked AND (occurred_at_us, key) < (${occurredAtUs}, ${key}) AND ${isUnprocessed(events)})), '')`;
}

/** The condition that the change of a row with the alias `failure` was not processed. */
export function isUnprocessed(events: string): string {
  return `NOT EXISTS (SELECT FROM ${events} AS event
            WHERE event.payment_reference = failure.payment_reference AND event.key = failure.key)`;
}

/** The statement that deletes the failure of an event. */
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
