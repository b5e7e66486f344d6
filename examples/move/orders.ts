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

export const database = new Database(process.env.DATABASE_FILE ?? 'shop.db');
database.pragma('journal_mode = WAL');
database.exec(`CREATE TABLE IF NOT EXISTS orders (
  reference TEXT PRIMARY KEY,
  reference_number TEXT, -- of its payment
  status TEXT, -- of its payment, from its newest callback
  changed_at INTEGER, -- when the status changed, in milliseconds
  shipped_at TEXT
)`);

const read = database.prepare('SELECT * FROM orders WHERE reference = ?');
const update = database.prepare(
  `UPDATE orders SET reference_number = @referenceNumber, status = @status, changed_at = @changedAt
   WHERE reference = @reference AND (changed_at IS NULL OR changed_at <= @changedAt)`,
);
const shipOnce = database.prepare(
  'UPDATE orders SET shipped_at = datetime() WHERE reference = ? AND shipped_at IS NULL',
);

export const readOrder = (reference: string) => read.get(reference) as Order | undefined;

/** Copies a status, unless the order's is newer. */
export function copyStatus(payment: {
  merchantPaymentReference: string;
  referenceNumber: string;
  status: string;
  updatedAt: string;
}): void {
  const { merchantPaymentReference: reference, referenceNumber, status, updatedAt } = payment;
  update.run({ reference, referenceNumber, status, changedAt: Date.parse(updatedAt) });
}

export function ship(reference: string): void {
  if (shipOnce.run(reference).changes === 1) console.log(`${reference} is shipped`);
}
