import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { postgresInbox } from '../../src/inbox/postgres/postgres-inbox.js';
import { redisInbox } from '../../src/inbox/redis/redis-inbox.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { LEASE_MS } from './timing.js';
import type { WorkerConfig } from './worker-config.js';

// What a merchant would write who takes the inbox at its word: no guard of its own against
// duplicates or order. Each effect is two writes with a pause between them, so that a process can
// die in the middle.

type Handler = ReturnType<typeof callbackHandler>;
type OnError = (error: unknown) => void;

const LONGEST_WORK_MS = 20;
const ignore = (): void => {};

// Keys are digests: short for one, long for another, and the same in every run.
function durationOf(key: string): number {
  return key.charCodeAt(0) % LONGEST_WORK_MS;
}

/** The handler of one receiver process, with connections of its own. */
export async function createHandler(config: WorkerConfig, onError: OnError): Promise<Handler> {
  if (config.inbox === 'redis') return createRedisHandler(config, onError);
  const pool = new pg.Pool({ connectionString: config.storeUrl, max: 5 });
  // The server ends connections that nobody uses, too.
  pool.on('error', ignore);
  const { signingSecret } = config;
  if (config.inbox === 'memory') {
    return callbackHandler({
      signingSecret,
      onError,
      onPayment: ({ key, payment }) => writeToPostgres(pool, key, payment),
    });
  }
  return callbackHandler({
    signingSecret,
    onError,
    // Less than the service waits for an answer.
    inbox: postgresInbox<pg.PoolClient>(pool, { lockTimeoutMs: 2_000, acquireTimeoutMs: 2_000 }),
    onPayment: ({ key, payment }, { tx }) => writeToPostgres(tx, key, payment),
  });
}

async function writeToPostgres(
  tx: pg.Pool | pg.PoolClient,
  key: string,
  { referenceNumber, status }: { referenceNumber: string; status: string },
): Promise<void> {
  await tx.query('INSERT INTO effects (key, reference, status) VALUES ($1, $2, $3)', [
    key,
    referenceNumber,
    status,
  ]);
  await pause(durationOf(key));
  await tx.query(
    `INSERT INTO orders (reference, status) VALUES ($1, $2)
ON CONFLICT (reference) DO UPDATE SET status = excluded.status`,
    [referenceNumber, status],
  );
}

async function createRedisHandler(
  { storeUrl, signingSecret }: WorkerConfig,
  onError: OnError,
): Promise<Handler> {
  const inboxClient = new Redis(storeUrl);
  inboxClient.on('error', ignore);
  // A command that waits out an outage would be done when the lease is somebody else's.
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
    onError,
    inbox: redisInbox(inboxClient, { leaseMs: LEASE_MS, commandTimeoutMs: 1_000 }),
    async onPayment({ key, payment: { referenceNumber, status } }) {
      await client.rpush('effects', JSON.stringify({ key, reference: referenceNumber, status }));
      await pause(durationOf(key));
      await client.hset('orders', referenceNumber, status);
    },
  });
}
