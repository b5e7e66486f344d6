import { randomUUID } from 'node:crypto';
import { Redis } from 'ioredis';
import { callbackHandler } from '../../src/node/callback-handler.js';
import { redisStore } from '../../src/redis/redis-store.js';
import { memoryStore } from '../../src/store/memory.js';
import { type OrderChange, takeTime } from './merchant-work.js';
import { LEASE_MS } from './timing.js';
import type { WorkerConfig } from './worker-config.js';

// What a merchant would write who takes the store at its word: each change has its effect, the order
// mirrors the status if that is current, and nothing guards either but what the store promises
// (at least once). Each effect is two writes with a pause between them, so that a process can
// die in the middle. A few works throw there, and a few take longer than others wait for them.

const ignore = (): void => {};

async function openMerchant(url: string) {
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
    async work({ current, second, ...change }: OrderChange) {
      const { key, reference, status } = change;
      const run = randomUUID();
      const told = { isCurrent: current, isSecond: second, beganAtMs: Date.now() };
      await client.rpush('effects', JSON.stringify({ run, ...change, ...told }));
      await takeTime(key);
      if (current) await client.hset('orders', reference, status);
      await client.hset('ends', run, Date.now());
    },
  };
}

/** The handler of one receiver process, with its own connections. */
export async function createHandler(
  { kind, storeUrl, signingSecret }: WorkerConfig,
  onError: (error: unknown) => void,
): Promise<ReturnType<typeof callbackHandler>> {
  const { store, work } = await openMerchant(storeUrl);
  return callbackHandler({
    signingSecret,
    store: kind === 'memory' ? memoryStore() : store,
    onError,
    onPayment({ key, payment }, { current }) {
      const { referenceNumber: reference, status } = payment;
      return work({ key, reference, order: reference, status, current, second: false });
    },
  });
}
