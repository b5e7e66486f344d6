import { explainMissing, sqlStateOf, transactionAborted, transactionEnded } from './failures.js';
import type { Queryable } from './pool.js';
import { inSchema, type QuotedTables } from './schema.js';
import type { OpenTransaction } from './transactions.js';

/** An event as the tables keep it. */
export interface StoredEvent {
  readonly reference: string;
  readonly key: string;
  /** When it happened, in epoch microseconds: digits, as a bigint is beyond what a number holds. */
  readonly occurredAtUs: string;
  readonly processStale: boolean;
}

/** Where a claimed event is to be recorded. */
export interface HeldClaim {
  readonly transactionId: string;
  /** With their schemas, as the work may change the `search_path`. */
  readonly tables: QuotedTables;
}

/** What a claim found. With `claimed` the payment's row is locked until the transaction ends. */
export type Claim =
  | { readonly found: 'claimed'; readonly held: HeldClaim }
  | { readonly found: 'duplicate' | 'stale' | 'busy' };

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';
// By a statement_timeout that is shorter than the wait for the lock.
const QUERY_CANCELED = '57014';
const BUSY_STATES: readonly unknown[] = [LOCK_NOT_AVAILABLE, DEADLOCK_DETECTED, QUERY_CANCELED];
const IN_FAILED_TRANSACTION = '25P02';

/** The statements that claim and record events in the tables. */
export class EventRecord {
  readonly #tables: QuotedTables;
  readonly #lockPayment: string;
  readonly #findEvent: string;

  constructor(tables: QuotedTables) {
    const { payments, events } = tables;
    this.#tables = tables;
    // The payment's row is what is locked: locks on the rows of events would not make two changes
    // of one payment wait for each other. The update changes nothing; it takes the lock, and what
    // RETURNING gives is the row as it is after the wait.
    this.#lockPayment = `INSERT INTO ${payments} AS payment (payment_reference) VALUES ($1)
ON CONFLICT (payment_reference) DO UPDATE SET changed_at = payment.changed_at
RETURNING payment.occurred_at_us > $2::bigint AS is_older, txid_current()::text AS transaction_id,
  ${schemaOf(payments)} AS schema`;

    // Not part of the statement before: that one's snapshot is from before the wait.
    this.#findEvent = `SELECT
  EXISTS (SELECT FROM ${events} WHERE payment_reference = $1 AND key = $2) AS is_processed,
  set_config('lock_timeout', $3, true), ${schemaOf(events)} AS schema`;
  }

  /** Locks the payment's row and looks whether the event is to run. Restores `lock_timeout`. */
  async claim(
    { tx, previousLockTimeout }: OpenTransaction<Queryable>,
    { reference, key, occurredAtUs, processStale }: StoredEvent,
  ): Promise<Claim> {
    try {
      const locked = await tx
        .query<LockedPayment>(this.#lockPayment, [reference, occurredAtUs])
        .catch((error) => explainMissing('paymentsTable', error));
      const found = await tx
        .query<FoundEvent>(this.#findEvent, [reference, key, previousLockTimeout])
        .catch((error) => explainMissing('eventsTable', error));
      const payment = only(locked);
      const event = only(found);
      if (event.is_processed) return { found: 'duplicate' };
      if (payment.is_older && !processStale) return { found: 'stale' };
      const tables = {
        payments: inSchema(payment.schema, this.#tables.payments),
        events: inSchema(event.schema, this.#tables.events),
      };
      return { found: 'claimed', held: { transactionId: payment.transaction_id, tables } };
    } catch (error) {
      if (BUSY_STATES.includes(sqlStateOf(error))) return { found: 'busy' };
      throw error;
    }
  }

  /**
   * Marks the event as processed.
   *
   * @throws {InboxError} `TRANSACTION_LOST` when this is not the claim's transaction any more, or
   * one that can't be committed
   */
  async record(
    { tx, assertOpen }: OpenTransaction<Queryable>,
    { reference, key, occurredAtUs }: StoredEvent,
    { transactionId, tables }: HeldClaim,
  ): Promise<void> {
    const { rows } = await tx
      .query(recordStatement(tables), [reference, key, occurredAtUs, transactionId])
      .catch((error) => {
        assertOpen();
        throw sqlStateOf(error) === IN_FAILED_TRANSACTION ? transactionAborted(error) : error;
      });
    if (rows.length === 0) throw transactionEnded();
  }
}

interface LockedPayment {
  is_older: boolean | null;
  transaction_id: string;
  schema: string;
}

interface FoundEvent {
  is_processed: boolean;
  schema: string;
}

// Outside the claim's transaction, after a COMMIT by the work, it does nothing.
function recordStatement({ payments, events }: QuotedTables): string {
  return `WITH recorded AS (
  INSERT INTO ${events} (payment_reference, key, occurred_at_us)
  SELECT $1, $2, $3::bigint WHERE txid_current() = $4::bigint
)
UPDATE ${payments} SET
  occurred_at_us = GREATEST(occurred_at_us, $3::bigint),
  changed_at = GREATEST(changed_at, now())
WHERE payment_reference = $1 AND txid_current() = $4::bigint
RETURNING 1 AS recorded`;
}

/** SQL for the schema in which the table is found, quoted. */
function schemaOf(table: string): string {
  return `(SELECT relnamespace::regnamespace::text FROM pg_class WHERE oid = '${table}'::regclass)`;
}

function only<Row>({ rows: [row] }: { rows: Row[] }): Row {
  return row as Row;
}
