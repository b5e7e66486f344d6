import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import mysql, { type PoolConnection, type ResultSetHeader } from 'mysql2/promise';
import pg from 'pg';
import type { VerifiedCallback } from '../../src/callback/options.js';
import type { CallbackInbox, InboxContext } from '../../src/inbox/inbox.js';
import { memoryInbox } from '../../src/inbox/memory.js';
import { mysqlInbox } from '../../src/inbox/mysql/mysql-inbox.js';
import { postgresInbox } from '../../src/inbox/postgres/postgres-inbox.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { inboxWithLostRenewals } from './lost-renewals.js';
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

const LONGEST_WORK_MS = 20;
const ignore = (): void => {};

/** What happens between the two writes: of each delivery anew, as one that fails must succeed once. */
async function takeTime(key: string): Promise<void> {
  // Short for one change, long for another.
  await pause(sumOf(Buffer.from(key)) % LONGEST_WORK_MS);
  const isSlow = Math.random() < 0.05;
  if (isSlow) await pause(SLOW_WORK_MS);
  if (Math.random() < (isSlow ? 0.3 : 0.03)) throw new Error('the work failed');
}

function sumOf(bytes: Uint8Array): number {
  return bytes.reduce((sum, byte) => sum + byte, 0);
}

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
      onPayment: (callback, { tx: { stale } }) => writeToPostgres(pool, callback, stale),
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
    onPayment: (callback, { tx: { tx, stale } }) => writeToPostgres(tx, callback, stale),
  });
}

async function writeToPostgres(
  tx: pg.Pool | pg.PoolClient,
  { key, payment: { referenceNumber, status } }: VerifiedCallback,
  stale: boolean,
): Promise<void> {
  const { rows } = await tx.query(
    `INSERT INTO effects (key, reference, status, stale, began_at_ms)
VALUES ($1, $2, $3, $4, $5) RETURNING id`,
    [key, referenceNumber, status, stale, Date.now()],
  );
  await takeTime(key);
  if (!stale) {
    await tx.query(
      `INSERT INTO orders (reference, status) VALUES ($1, $2)
ON CONFLICT (reference) DO UPDATE SET status = excluded.status`,
      [referenceNumber, status],
    );
  }
  await tx.query('UPDATE effects SET done_at_ms = $2 WHERE id = $1', [rows[0].id, Date.now()]);
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
    onPayment: (callback, { tx: { tx, stale } }) => writeToMysql(tx, callback, stale),
  });
}

async function writeToMysql(
  tx: PoolConnection,
  { key, payment: { referenceNumber, status } }: VerifiedCallback,
  stale: boolean,
): Promise<void> {
  const [{ insertId }] = await tx.query<ResultSetHeader>(
    'INSERT INTO effects (`key`, reference, status, stale, began_at_ms) VALUES (?, ?, ?, ?, ?)',
    [key, referenceNumber, status, stale, Date.now()],
  );
  await takeTime(key);
  if (!stale) {
    await tx.query(
      'INSERT INTO orders (reference, status) VALUES (?, ?) ON DUPLICATE KEY UPDATE status = ?',
      [referenceNumber, status, status],
    );
  }
  await tx.query('UPDATE effects SET done_at_ms = ? WHERE id = ?', [Date.now(), insertId]);
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
  const { inbox, begin, finish } = openSqliteMerchant(storeUrl);
  return callbackHandler({
    signingSecret,
    onStale: 'process',
    onError,
    inbox: givingContext(inbox),
    async onPayment({ key, payment: { referenceNumber: reference, status } }, { tx: { stale } }) {
      const change = { key, reference, status, stale };
      const run = begin(change);
      await takeTime(key);
      finish(run, change);
      // What fails or dies here is run again, and finds the goods shipped.
      await takeTime(key);
    },
  });
}
