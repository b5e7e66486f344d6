// The orders of both shops, in one file.

import Database from 'better-sqlite3';

export interface Order {
  readonly reference: string;
  readonly reference_number: string | null;
  readonly status: string | null;
  readonly shipped_at: string | null;
  /** 1 if the store creates its payment, 0 if the hand-written code does. */
  readonly in_store: 0 | 1;
}

/** What the shops read of a callback's payment. */
interface Payment {
  readonly referenceNumber: string;
  readonly status: string;
  readonly updatedAt: string;
}

export const database = new Database(process.env.DATABASE_FILE ?? 'shop.db');
database.pragma('journal_mode = WAL');
database.exec(`CREATE TABLE IF NOT EXISTS orders (
  reference TEXT PRIMARY KEY,
  reference_number TEXT, -- of its payment
  status TEXT, -- of its payment, from its newest callback
  changed_at INTEGER, -- when the status changed, in milliseconds
  shipped_at TEXT
)`);

const update = database.prepare(
  `UPDATE orders SET reference_number = @referenceNumber, status = @status, changed_at = @changedAt
   WHERE reference = @reference AND (changed_at IS NULL OR changed_at <= @changedAt)`,
);
const shipOnce = database.prepare(
  `UPDATE orders SET shipped_at = datetime() WHERE reference = @reference AND shipped_at IS NULL
   AND (status IS NOT 'refunded' OR reference_number IS NOT @referenceNumber)`,
);

/** Copies a status, unless the order's is newer. */
export function copyStatus(reference: string, payment: Payment): void {
  const { referenceNumber, status, updatedAt } = payment;
  update.run({ reference, referenceNumber, status, changedAt: Date.parse(updatedAt) });
}

/** Ships an order once, and not for a payment that is known to be refunded. */
export function ship(reference: string, { referenceNumber }: Payment): void {
  const { changes } = shipOnce.run({ reference, referenceNumber });
  if (changes === 1) console.log(`${reference} is shipped`);
}

const read = database.prepare('SELECT * FROM orders WHERE reference = ?');
export const readOrder = (reference: string) => read.get(reference) as Order | undefined;
