import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import { cleanUpAtExit } from '../services/throwaway-server.js';
import type { Database } from './database.js';
import { type EffectRow, toEffect } from './history.js';
import { openSqlite } from './sqlite-file.js';

// In the store's file. The key guards the goods, as the store promises at least once; the counter has
// no constraint that could hide a second shipment.
const MERCHANT_TABLES = `
CREATE TABLE effects (id INTEGER PRIMARY KEY, key TEXT, reference TEXT, order_reference TEXT,
  status TEXT, is_current INTEGER, is_second INTEGER, began_at_ms INTEGER, done_at_ms INTEGER);
CREATE TABLE shipped_keys (key TEXT PRIMARY KEY);
CREATE TABLE orders (reference TEXT PRIMARY KEY, status TEXT, shipments INTEGER NOT NULL DEFAULT 0)`;

interface OrderRow {
  readonly reference: string;
  readonly status: string;
  readonly shipments: number;
}

/** A file that other processes share. It is away while another connection holds the write lock. */
export async function startSqliteDatabase(): Promise<Database> {
  const folder = mkdtempSync(join(tmpdir(), 'test-sqlite-'));
  const file = join(folder, 'merchant.db');
  const remove = () => rmSync(folder, { recursive: true, force: true });
  const forget = cleanUpAtExit(remove);
  const database = openSqlite(file, { timeoutMs: 10_000 });
  await sqliteStore(database).setup();
  database.exec(MERCHANT_TABLES);
  const readOrders = () => database.prepare('SELECT * FROM orders').all() as OrderRow[];
  const lockForAMoment = async (): Promise<void> => {
    database.exec('BEGIN IMMEDIATE');
    await pause(300);
    database.exec('COMMIT');
  };
  let lockedForAMoment: Promise<void> | undefined;
  return {
    url: file,
    guarantee: 'at-least-once',
    isReadableWhileDown: true,
    async cutConnections() {
      lockedForAMoment = lockForAMoment();
      await lockedForAMoment;
    },
    async crash() {
      await lockedForAMoment;
      database.exec('BEGIN IMMEDIATE');
    },
    async restart() {
      database.exec('COMMIT');
    },
    async readEffects() {
      const rows = database
        .prepare(
          `SELECT key, reference, order_reference AS "order", status, is_current AS isCurrent, is_second AS isSecond,
             began_at_ms AS beganAtMs, done_at_ms AS doneAtMs
           FROM effects ORDER BY id`,
        )
        .all() as EffectRow[];
      return rows.map(toEffect);
    },
    readOrders: async () => new Map(readOrders().map((order) => [order.reference, order.status])),
    readShipments: async () =>
      new Map(readOrders().map((order) => [order.reference, order.shipments])),
    async stop() {
      database.close();
      forget();
      remove();
    },
  };
}
