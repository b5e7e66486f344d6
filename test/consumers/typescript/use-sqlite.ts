// What a store in SQLite takes, with the types of better-sqlite3, of which older compilers make a union.

import type { PaymentClient } from 'merchant-payments';
import { sqliteStore } from 'merchant-payments/sqlite';
import type { CallbackStore, PaymentStore } from 'merchant-payments/store';

interface Statement<Parameters extends unknown[]> {
  run(...parameters: Parameters): { changes: number; lastInsertRowid: number | bigint };
  get(...parameters: Parameters): unknown;
  all(...parameters: Parameters): unknown[];
}

interface BetterSqlite3 {
  inTransaction: boolean;
  // biome-ignore lint/complexity/noBannedTypes: as it is declared there
  prepare<Parameters extends unknown[] | {} = unknown[]>(
    source: string,
  ): Parameters extends unknown[] ? Statement<Parameters> : Statement<[Parameters]>;
  exec(source: string): this;
}

declare const database: BetterSqlite3;
declare const client: PaymentClient;

export const managed: Required<CallbackStore> = sqliteStore(database);
export const store = sqliteStore(database, { client, leaseMs: 30_000 });
export const payments: PaymentStore = store;
export const callbacks: CallbackStore = store;

const input = { merchantPaymentReference: 'order-1', amount: 1, currency: 'EUR' };

export const recording: Promise<void> = store.record(input, { tx: database });
export const recordNow = (): void =>
  store.record(input, { sync: true, extraBody: { customer: 'c-1' } });

// @ts-expect-error: without a client, it creates no payments
export const none = sqliteStore(database).create;
// @ts-expect-error: a transaction of something else
store.record(input, { tx: 1 });
// @ts-expect-error: it returns at once
export const later: Promise<void> = store.record(input, { sync: true });
