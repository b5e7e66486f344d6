// Slow work in a queue: the callback sets the status, and a worker ships. BullMQ keeps and retries the
// job; with `key` as the job's id it recognises duplicates too.
//
//   REDIS_URL=redis://127.0.0.1:6379 MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/bullmq.ts

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { RetryLaterError } from 'merchant-payments';
import { redisInbox } from 'merchant-payments/inbox/redis';
import { callbackHandler } from 'merchant-payments/node';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const name = process.env.QUEUE ?? 'shipments';

// Without an offline queue `add` fails at once while Redis is unreachable: the service gets 500 and retries.
const queue = new Queue<{ reference: string }>(name, {
  connection: { url, enableOfflineQueue: false },
  defaultJobOptions: {
    // Over about six days: after the 200 only the queue has the change.
    attempts: 20,
    backoff: { type: 'exponential', delay: 1000 },
    // Kept longer than the service retries: a job's id is known as long as the job is kept.
    removeOnComplete: { age: 30 * 24 * 3600 },
  },
});
await queue.waitUntilReady();

// The orders: hashes, stored before their payments are created.
const redis = new Redis(url);

const worker = new Worker<{ reference: string }>(
  name,
  async ({ data: { reference } }) => {
    // An order with two payments has two jobs: the field is written once.
    if (await redis.hsetnx(`order:${reference}`, 'shippedAt', Date.now())) {
      console.log(`${reference} is shipped`);
    }
  },
  { connection: { url, maxRetriesPerRequest: null } },
);

// They reconnect automatically.
const report = (error: Error) => console.error(error);
redis.on('error', report);
queue.on('error', report);
worker.on('error', report);
worker.on('failed', (job, error) => {
  console.error(`${job?.id} failed, attempt ${job?.attemptsMade}: ${error.message}`);
});
const handler = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  inbox: redisInbox(redis),
  async onPayment({ payment, key }, { stale }) {
    const reference = payment.merchantPaymentReference;
    // Not left to the worker: a job that waits for its order fails for good in the end.
    if ((await redis.exists(`order:${reference}`)) === 0) {
      throw new RetryLaterError('order not stored yet');
    }
    if (payment.status === 'paid') await queue.add('ship', { reference }, { jobId: key });
    if (!stale) {
      await redis.hset(`order:${reference}`, 'status', payment.status);
      console.log(`${reference} is ${payment.status}`);
    }
  },
});

const server = createServer(handler).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});
process.once('SIGTERM', async () => {
  server.close();
  await worker.close();
  await queue.close();
  await redis.quit();
});
