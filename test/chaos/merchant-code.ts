import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Redis } from 'ioredis';
import pg from 'pg';
import { postgresInbox } from '../../src/inbox/postgres/postgres-inbox.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { inboxWithLostRenewals } from './lost-renewals.js';
import { LOCK_TIMEOUT_MS, SLOW_WORK_MS } from './timing.js';
import type { WorkerConfig } from './worker-config.js';

// What a merchant would write who takes the inbox at its word: no guard of its own against
// duplicates or order. Each effect is two writes with a pause between them, so that a process can
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
  // Keys are digests: short for one, long for another, and the same in every run.
  await pause(key.charCodeAt(0) % LONGEST_WORK_MS);
  const isSlow = Math.random() < 0.05;
  if (isSlow) await pause(SLOW_WORK_MS);
  if (Math.random() < (isSlow ? 0.3 : 0.03)) throw new Error('the work failed');
}

/** The handler of one receiver process, with connections of its own. */
export async function createHandler(config: WorkerConfig, listeners: Listeners): Promise<Handler> {
  if (config.inbox === 'redis') return createRedisHandler(config, listeners);
  const { onError } = listeners;
  const pool = new pg.Pool({ connectionString: config.storeUrl, max: 5 });
  // The server ends connections that nobody uses, too.
  pool.on('error', ignore);
  const { signingSecret } = config;
  if (config.inbox === 'memory') {
    return callbackHandler({
      signingSecret,
      onStale: 'acknowledge',
      onError,
      onPayment: ({ key, payment }) => writeToPostgres(pool, key, payment),
    });
  }
  return callbackHandler({
    signingSecret,
    onStale: 'acknowledge',
    onError,
    // Less than the service waits for an answer.
    inbox: postgresInbox<pg.PoolClient>(pool, {
      lockTimeoutMs: LOCK_TIMEOUT_MS,
      acquireTimeoutMs: 2_000,
    }),
    onPayment: ({ key, payment }, { tx }) => writeToPostgres(tx, key, payment),
  });
}

async function writeToPostgres(
  tx: pg.Pool | pg.PoolClient,
  key: string,
  { referenceNumber, status }: { referenceNumber: string; status: string },
): Promise<void> {
  const { rows } = await tx.query(
    'INSERT INTO effects (key, reference, status, began_at_ms) VALUES ($1, $2, $3, $4) RETURNING id',
    [key, referenceNumber, status, Date.now()],
  );
  await takeTime(key);
  await tx.query(
    `INSERT INTO orders (reference, status) VALUES ($1, $2)
ON CONFLICT (reference) DO UPDATE SET status = excluded.status`,
    [referenceNumber, status],
  );
  await tx.query('UPDATE effects SET done_at_ms = $2 WHERE id = $1', [rows[0].id, Date.now()]);
}

async function createRedisHandler(
  { storeUrl, signingSecret }: WorkerConfig,
  { onError, onMistake }: Listeners,
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
    onStale: 'acknowledge',
    onError,
    inbox: inboxWithLostRenewals({ inboxClient, client, onMistake }),
    async onPayment({ key, payment: { referenceNumber: reference, status } }) {
      const run = randomUUID();
      const effect = { run, key, reference, status, beganAtMs: Date.now() };
      await client.rpush('effects', JSON.stringify(effect));
      await takeTime(key);
      // Whoever follows a holder that lost its lease is still at work when that one ends.
      if (await client.exists(`lost:${reference}`)) await pause(SLOW_WORK_MS);
      await client.hset('orders', reference, status);
      await client.hset('ends', run, Date.now());
    },
  });
}
