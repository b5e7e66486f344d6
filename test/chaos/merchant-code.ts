import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import mysql, { type PoolConnection } from 'mysql2/promise';
import pg from 'pg';
import type { VerifiedCallback } from '../../src/callback/options.js';
import type { CallbackInbox, InboxContext } from '../../src/store/inbox.js';
import { memoryInbox } from '../../src/store/memory-inbox.js';
import { mysqlInbox } from '../../src/mysql/inbox-mysql-inbox.js';
import { postgresInbox } from '../../src/postgres/inbox-postgres-inbox.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { inboxWithLostRenewals } from './lost-renewals.js';
import { type OrderChange, takeTime } from './merchant-work.js';
import { writeToMysql } from './mysql-merchant.js';
import { writeToPostgres } from './postgres-merchant.js';
import { openSqliteMerchant } from './sqlite-merchant.js';
import { LOCK_TIMEOUT_MS, SLOW_WORK_MS } from './timing.js';
import type { WorkerConfig } from './worker-config.js';

// What a merchant would write who takes the inbox at its word: each change has its effect, the order
// mirrors the status unless the change is stale, and nothing guards either but what the inbox promises
// (at least once, in SQLite: there the goods are guarded by key, in one file with the inbox). Each effect is two writes with a pause between them, so that a process can
// die in the middle. A few works throw there, and a few take longer than others wait for them.

type Handler = ReturnType<typeof callbackHandler>;

interface Listeners {
  onError(error: unknown): void;
  /** Told what no inbox may do. */
  onMistake(mistake: string): void;
}

const ignore = (): void => {};

/** The same inbox, whose `tx` is all that it gives to the work. */
function givingContext<Tx>(inbox: CallbackInbox<Tx>): CallbackInbox<InboxContext<Tx>> {
  return {
    process: (event, work) =>
      inbox.process(event, (context) =>
        work({ tx: context, signal: context.signal, stale: context.stale }),
      ),
  };
}

/** The handler of one receiver process, with its own connections. */
export async function createHandler(config: WorkerConfig, listeners: Listeners): Promise<Handler> {
  if (config.inbox === 'redis') return createRedisHandler(config, listeners);
  if (config.inbox === 'mysql') return createMysqlHandler(config, listeners);
  if (config.inbox === 'sqlite') return createSqliteHandler(config, listeners);
  const { onError } = listeners;
  const pool = new pg.Pool({ connectionString: config.storeUrl, max: 5 });
  // The server also ends idle connections.
  pool.on('error', ignore);
  const { signingSecret } = config;
  if (config.inbox === 'memory') {
    return callbackHandler({
      signingSecret,
      onStale: 'process',
      onError,
      inbox: givingContext(memoryInbox()),
      onPayment: (callback, { tx: { stale } }) => writeToPostgres(pool, toChange(callback, stale)),
    });
  }
  return callbackHandler({
    signingSecret,
    onStale: 'process',
    onError,
    // Less than the service waits for an answer.
    inbox: givingContext(
      postgresInbox<pg.PoolClient>(pool, {
        lockTimeoutMs: LOCK_TIMEOUT_MS,
        acquireTimeoutMs: 2_000,
      }),
    ),
    onPayment: (callback, { tx: { tx, stale } }) => writeToPostgres(tx, toChange(callback, stale)),
  });
}

function createMysqlHandler(
  { storeUrl, signingSecret }: WorkerConfig,
  { onError }: Listeners,
): Handler {
  const pool = mysql.createPool({ uri: storeUrl, connectionLimit: 5, connectTimeout: 2_000 });
  const timeouts = { lockTimeoutMs: LOCK_TIMEOUT_MS, acquireTimeoutMs: 2_000 };
  return callbackHandler({
    signingSecret,
    onStale: 'process',
    onError,
    // Less than the service waits for an answer.
    inbox: givingContext(mysqlInbox<PoolConnection>(pool, timeouts)),
    onPayment: (callback, { tx: { tx, stale } }) => writeToMysql(tx, toChange(callback, stale)),
  });
}

async function createRedisHandler(
  { storeUrl, signingSecret }: WorkerConfig,
  { onError, onMistake }: Listeners,
): Promise<Handler> {
  const inboxClient = new Redis(storeUrl);
  inboxClient.on('error', ignore);
  // A command that waits out an outage would run when the lease belongs to another holder.
  const client = new Redis(storeUrl, {
    lazyConnect: true,
    enableOfflineQueue: false,
    autoResendUnfulfilledCommands: false,
    maxRetriesPerRequest: 0,
  });
  client.on('error', ignore);
  // During an outage it goes on trying by itself.
  await client.connect().catch(ignore);
  return callbackHandler({
    signingSecret,
    onStale: 'process',
    onError,
    inbox: givingContext(inboxWithLostRenewals({ inboxClient, client, onMistake })),
    async onPayment({ key, payment: { referenceNumber: reference, status } }, { tx: { stale } }) {
      const run = randomUUID();
      const effect = { run, key, reference, status, stale, beganAtMs: Date.now() };
      await client.rpush('effects', JSON.stringify(effect));
      await takeTime(key);
      // A holder that lost its lease must end while its successor is still working.
      if (await client.exists(`lost:${reference}`)) await pause(SLOW_WORK_MS);
      if (!stale) await client.hset('orders', reference, status);
      await client.hset('ends', run, Date.now());
    },
  });
}

function createSqliteHandler(
  { storeUrl, signingSecret }: WorkerConfig,
  { onError }: Listeners,
): Handler {
  const { inbox, write } = openSqliteMerchant(storeUrl);
  return callbackHandler({
    signingSecret,
    onStale: 'process',
    onError,
    inbox: givingContext(inbox),
    onPayment: (callback, { tx: { stale } }) => write(toChange(callback, stale)),
  });
}

function toChange({ key, payment }: VerifiedCallback, stale: boolean): OrderChange {
  return { key, reference: payment.referenceNumber, status: payment.status, stale };
}
