import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { redisStore } from '../../src/redis/redis-store.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import type { CallbackStore } from '../../src/store/callback-store.js';
import { outcomeOf } from '../store/outcome-of.js';
import { DATABASES } from './crash-run.js';
import { openSqlite } from './sqlite-file.js';

export type OrderedStore = 'postgres' | 'mysql' | 'redis' | 'sqlite';

export interface OrderRunOptions {
  readonly kind: OrderedStore;
  /** @default 200 */
  readonly payments?: number;
}

const INSTANCES = 4;
const STATUSES = ['authorized', 'paid', 'settled'] as const;
const BETWEEN_CHANGES_MS = 30;
const WORK_MS = 80;
const REDELIVERY_MS = 100;
const IN_FLIGHT = 8;

interface Instance {
  readonly store: CallbackStore<unknown>;
  close(): unknown;
}

const OPEN: Readonly<Record<OrderedStore, (url: string) => Instance>> = {
  postgres(connectionString) {
    const pool = new pg.Pool({ connectionString });
    return { store: postgresStore(pool), close: () => pool.end() };
  },
  mysql(url) {
    const pool = mysql.createPool({ uri: url, connectionLimit: 10 });
    return { store: mysqlStore(pool), close: () => pool.end() };
  },
  redis(url) {
    const client = new Redis(url);
    return { store: redisStore(client), close: () => client.disconnect() };
  },
  sqlite(file) {
    const database = openSqlite(file, { timeoutMs: 10 });
    return { store: sqliteStore(database), close: () => database.close() };
  },
};

/** How a run went, in figures. */
export interface OrderCounts {
  /** How often the work ran, by status. */
  readonly runs: Record<string, number>;
  /** How often it ran as older than a processed change. */
  older: number;
  /** Deliveries that were answered busy, and repeated. */
  busy: number;
  /** Payments whose changes all ran in the order in which they were sent. */
  inOrder: number;
  /** Payments of which two works ran at once. */
  overlapping: number;
}

/**
 * Sends three changes of each payment 30 ms apart, each to another of four instances on one database,
 * while the work takes 80 ms, and again 100 ms after each `busy`.
 */
export async function runOrderTest({ kind, payments = 200 }: OrderRunOptions) {
  const database = await DATABASES[kind]();
  const instances = Array.from({ length: INSTANCES }, () => OPEN[kind](database.url));
  const runs = Object.fromEntries(STATUSES.map((status) => [status, 0]));
  const counts: OrderCounts = { runs, older: 0, busy: 0, inOrder: 0, overlapping: 0 };
  const startedAtMs = performance.now();
  try {
    let next = 0;
    const takeOneAfterAnother = async (): Promise<void> => {
      while (next < payments) {
        next += 1;
        await changeStatuses(instances, counts, next);
      }
    };
    await Promise.all(Array.from({ length: IN_FLIGHT }, takeOneAfterAnother));
    return { payments, ...counts, durationMs: Math.round(performance.now() - startedAtMs) };
  } finally {
    for (const { close } of instances) await close();
    await database.stop();
  }
}

async function changeStatuses(
  instances: readonly Instance[],
  counts: OrderCounts,
  number: number,
): Promise<void> {
  const merchantPaymentReference = `order-${number}`;
  const referenceNumber = randomUUID();
  const begun: string[] = [];
  let running = 0;
  let isOverlapping = false;
  const deliver = async (status: string, index: number): Promise<void> => {
    const { store } = instances[(number + index) % instances.length] as Instance;
    const at = new Date(Date.UTC(2026, 0, 1) + index * BETWEEN_CHANGES_MS).toISOString();
    const references = { merchantPaymentReference, referenceNumber, providerReference: '' };
    const payment = { ...references, status, createdAt: at, updatedAt: at };
    const work = async ({ current }: { current: boolean }): Promise<void> => {
      begun.push(status);
      running += 1;
      isOverlapping ||= running > 1;
      counts.runs[status] = (counts.runs[status] ?? 0) + 1;
      if (!current) counts.older += 1;
      await pause(WORK_MS);
      running -= 1;
    };
    while ((await outcomeOf(store, { key: status, payment }, work)) === 'busy') {
      counts.busy += 1;
      await pause(REDELIVERY_MS);
    }
  };
  const deliveries: Promise<void>[] = [];
  for (const [index, status] of STATUSES.entries()) {
    deliveries.push(deliver(status, index));
    await pause(BETWEEN_CHANGES_MS);
  }
  await Promise.all(deliveries);
  if (begun.join() === STATUSES.join()) counts.inOrder += 1;
  if (isOverlapping) counts.overlapping += 1;
}
