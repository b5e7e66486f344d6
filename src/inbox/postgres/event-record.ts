import { explainMissing, sqlStateOf, transactionAborted, transactionEnded } from './failures.js';
import type { Queryable } from './pool.js';
import type { QuotedTables } from './schema.js';
import type { OpenTransaction } from './transactions.js';

/** An event as the tables keep it. */
export interface StoredEvent {
  readonly reference: string;
  readonly key: string;
  /** When it happened, in epoch microseconds: digits, as a bigint is beyond what a number holds. */
  readonly occurredAtUs: string;
  readonly processStale: boolean;
}

/** What a claim found. With `claimed` the payment's row is locked until the transaction ends. */
export type Claim =
  | { readonly found: 'claimed'; readonly transactionId: string }
  | { readonly found: 'duplicate' | 'stale' | 'busy' };

const LOCK_NOT_AVAILABLE = '55P03';
const DEADLOCK_DETECTED = '40P01';
const IN_FAILED_TRANSACTION = '25P02';

/** The statements that claim and record events in the tables. */
export class EventRecord {
  readonly #lockPayment: string;
  readonly #findEvent: string;
  readonly #recordEvent: string;

  constructor({ payments, events }: QuotedTables) {
    // The payment's row is what is locked: locks on the rows of events would not make two changes
    // of one payment wait for each other. The update changes nothing; it takes the lock, and what
    // RETURNING gives is the row as it is after the wait.
    this.#lockPayment = `INSERT INTO ${payments} AS payment (payment_reference) VALUES ($1)
ON CONFLICT (payment_reference) DO UPDATE SET changed_at = payment.changed_at
RETURNING payment.occurred_at_us > $2::bigint AS is_older, txid_current()::text AS transaction_id`;

    // Not part of the statement before: that one's snapshot is from before the wait.
    this.#findEvent = `SELECT
  EXISTS (SELECT FROM ${events} WHERE payment_reference = $1 AND key = $2) AS is_processed,
  set_config('lock_timeout', $3, true)`;

    // Outside the claim's transaction, after a COMMIT by the work, it does nothing.
    this.#recordEvent = `WITH recorded AS (
  INSERT INTO ${events} (payment_reference, key, occurred_at_us)
  SELECT $1, $2, $3::bigint WHERE txid_current() = $4::bigint
)
UPDATE ${payments} SET
  occurred_at_us = GREATEST(occurred_at_us, $3::bigint),
  changed_at = GREATEST(changed_at, now())
WHERE payment_reference = $1 AND txid_current() = $4::bigint
RETURNING 1 AS recorded`;
  }

  /** Locks the payment's row and looks whether the event is to run. Restores `lock_timeout`. */
  async claim(
    { tx, previousLockTimeout }: OpenTransaction<Queryable>,
    { reference, key, occurredAtUs, processStale }: StoredEvent,
  ): Promise<Claim> {
    try {
      const locked = await tx
        .query<{ is_older: boolean | null; transaction_id: string }>(this.#lockPayment, [
          reference,
          occurredAtUs,
        ])
        .catch((error) => explainMissing('paymentsTable', error));
      const found = await tx
        .query<{ is_processed: boolean }>(this.#findEvent, [reference, key, previousLockTimeout])
        .catch((error) => explainMissing('eventsTable', error));
      if (only(found).is_processed) return { found: 'duplicate' };
      const { is_older, transaction_id } = only(locked);
      if (is_older && !processStale) return { found: 'stale' };
      return { found: 'claimed', transactionId: transaction_id };
    } catch (error) {
      const state = sqlStateOf(error);
      if (state === LOCK_NOT_AVAILABLE || state === DEADLOCK_DETECTED) return { found: 'busy' };
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
    transactionId: string,
  ): Promise<void> {
    const { rows } = await tx
      .query(this.#recordEvent, [reference, key, occurredAtUs, transactionId])
      .catch((error) => {
        assertOpen();
        throw sqlStateOf(error) === IN_FAILED_TRANSACTION ? transactionAborted(error) : error;
      });
    if (rows.length === 0) throw transactionEnded();
  }
}

function only<Row>({ rows: [row] }: { rows: Row[] }): Row {
  return row as Row;
}
