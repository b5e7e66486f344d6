import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { mysqlStore } from '../../src/mysql/mysql-store.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { postgresStore } from '../../src/postgres/postgres-store.js';
import { redisStore } from '../../src/redis/redis-store.js';
import { sqliteStore } from '../../src/sqlite/sqlite-store.js';
import type { CallbackStore } from '../../src/store/callback-store.js';
import { memoryStore } from '../../src/store/memory.js';
import { type OrderChange, takeTime } from './merchant-work.js';
import { writeToMysql } from './mysql-merchant.js';
import { writeToPostgres } from './postgres-merchant.js';
import { openSqliteMerchant } from './sqlite-merchant.js';
import { LEASE_MS, LOCK_TIMEOUT_MS } from './timing.js';
import type { StoreKind, WorkerConfig } from './worker-config.js';

// What a merchant would write who takes the store at its word: each change has its effect, the order
// mirrors the status if that is current, and nothing guards either but what the store promises
// (at least once, in SQLite: there the goods are guarded by key, in one file with the store). Each effect is two writes with a pause between them, so that a process can
// die in the middle. A few works throw there, and a few take longer than others wait for them.

type Handler = ReturnType<typeof callbackHandler>;

interface Merchant<Tx> {
  readonly store: CallbackStore<Tx>;
  work(tx: Tx, change: OrderChange): Promise<void>;
}

const ignore = (): void => {};

// Less than the service waits for an answer.
const TIMEOUTS = { lockTimeoutMs: LOCK_TIMEOUT_MS, acquireTimeoutMs: 2_000 };

const OPEN = {
  postgres(url: string): Merchant<pg.PoolClient> {
    return { store: postgresStore(openPool(url), TIMEOUTS), work: writeToPostgres };
  },
  memory(url: string): Merchant<undefined> {
    const pool = openPool(url);
    return { store: memoryStore(), work: (_, change) => writeToPostgres(pool, change) };
  },
  mysql(uri: string): Merchant<mysql.PoolConnection> {
    const pool = mysql.createPool({ uri, connectionLimit: 5, connectTimeout: 2_000 });
    return { store: mysqlStore(pool, TIMEOUTS), work: writeToMysql };
  },
  sqlite(file: string): Merchant<undefined> {
    const { database, write } = openSqliteMerchant(file);
    const store = sqliteStore(database, { leaseMs: LEASE_MS });
    return { store, work: (_, change) => write(change) };
  },
  redis: openOnRedis,
} satisfies Record<StoreKind, unknown>;

function openPool(connectionString: string): pg.Pool {
  const pool = new pg.Pool({ connectionString, max: 5 });
  // The server also ends idle connections.
  pool.on('error', ignore);
  return pool;
}

async function openOnRedis(url: string): Promise<Merchant<undefined>> {
  const storeClient = new Redis(url);
  storeClient.on('error', ignore);
  // A command that waits out an outage would run when the lease belongs to another holder.
  const client = new Redis(url, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  });
  client.on('error', ignore);
  // During an outage it goes on trying by itself.
  await client.connect().catch(ignore);
  return {
    store: redisStore(storeClient, { leaseMs: LEASE_MS, commandTimeoutMs: 1_000 }),
    async work(_, { current, second, ...change }) {
      const { key, reference, status } = change;
      const run = randomUUID();
      const effect = {
        run,
        ...change,
        isCurrent: current,
        isSecond: second,
        beganAtMs: Date.now(),
      };
      await client.rpush('effects', JSON.stringify(effect));
      await takeTime(key);
      if (current) await client.hset('orders', reference, status);
      await client.hset('ends', run, Date.now());
    },
  };
}

/** The handler of one receiver process, with its own connections. */
export async function createHandler(
  config: WorkerConfig,
  onError: (error: unknown) => void,
): Promise<Handler> {
  const { kind, storeUrl, signingSecret } = config;
  // Each works in the transactions of its own store.
  const { store, work } = (await OPEN[kind](storeUrl)) as Merchant<unknown>;
  return callbackHandler({
    signingSecret,
    store,
    onError,
    onPayment({ key, payment }, { tx, current }) {
      const { referenceNumber: reference, status } = payment;
      return work(tx, { key, reference, order: reference, status, current, second: false });
    },
  });
}
