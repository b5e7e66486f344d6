// Slow work in a queue: the callback is acknowledged when its job is in Redis, and a worker does the
// rest. BullMQ keeps, retries and schedules; `key` as the job's id lets it know duplicates as well.
//
//   REDIS_URL=redis://127.0.0.1:6379 MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/bullmq.ts

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Queue, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import type { PaymentStatusRecord } from 'merchant-payments';
import { redisInbox } from 'merchant-payments/inbox/redis';
import { callbackHandler } from 'merchant-payments/node';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const name = process.env.QUEUE ?? 'payment-callbacks';

// Without an offline queue `add` fails at once while Redis is away: the service gets 500 and comes again.
const queue = new Queue<PaymentStatusRecord>(name, {
  connection: { url, enableOfflineQueue: false },
  defaultJobOptions: {
    // Over about six days: after the 200 the queue is the only one that has the change.
    attempts: 20,
    backoff: { type: 'exponential', delay: 1000 },
    // A job's id is taken only as long as the job is kept: longer than the service repeats itself.
    removeOnComplete: { age: 30 * 24 * 3600 },
  },
});
await queue.waitUntilReady();

const worker = new Worker<PaymentStatusRecord>(
  name,
  async ({ data }) => {
    console.log(`${data.merchantPaymentReference} is ${data.status}`);
  },
  { connection: { url, maxRetriesPerRequest: null } },
);

const redis = new Redis(url);
// They reconnect by themselves.
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
  async onPayment({ payment, key }) {
    await queue.add('payment-changed', payment, { jobId: key });
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
