// Slow work in BullMQ 6: the callback stores the order's state, and a worker delivers.
//
//   REDIS_URL=redis://… WAREHOUSE_URL=http://… MERCHANT_PAYMENTS_SIGNING_SECRET=… \
//     npx tsx examples/queues/bullmq.ts
//   npx tsx examples/queues/bullmq.ts retry   # runs jobs that failed for good again

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Queue, UnrecoverableError, Worker } from 'bullmq';
import { Redis } from 'ioredis';
import { callbackHandler, isPaid, RetryLaterError } from 'merchant-payments/node';
import { redisStore } from 'merchant-payments/redis';
import { deliver, RefusedError } from './warehouse.js';

const url = process.env.REDIS_URL ?? 'redis://127.0.0.1:6379';
const name = process.env.QUEUE ?? 'deliveries';

const queue = new Queue<{ reference: string }>(name, {
  // Fails at once while Redis is unreachable: the service receives 500 and retries.
  connection: { url, enableOfflineQueue: false },
  defaultJobOptions: {
    attempts: 20, // over about six days
    backoff: { type: 'exponential', delay: 1000 },
    // Longer than the service retries: BullMQ recognises a job's id only while it keeps the job.
    removeOnComplete: { age: 30 * 24 * 3600 },
  },
});
await queue.waitUntilReady();

// A command that is sent later would be sent without the lease of its callback.
const redis = new Redis(url, { enableOfflineQueue: false, lazyConnect: true });
await redis.connect();
for (const client of [redis, queue]) client.on('error', console.error); // they reconnect

// --- The callback: stores the order's state and adds a job ---------------------------------------

const handler = callbackHandler({
  store: redisStore(redis),
  async onPayment({ payment, key }, { order: reference, current }) {
    const { status } = payment;
    const order = `order:${reference}`; // a hash, stored at checkout
    // Checked here: a job that waits for its order would fail for good in the end.
    if ((await redis.exists(order)) === 0) throw new RetryLaterError('order not stored yet');
    if (isPaid(payment)) await redis.hsetnx(order, 'paidAt', payment.updatedAt);
    if (current) await redis.hset(order, 'status', status);
    // After the order is stored, which the worker reads. A repeated id adds no second job.
    await queue.add('deliver', { reference }, { jobId: key });
    if (current) console.log(`${reference} is ${status}`);
  },
});

// --- The worker: it reads the order, not the job, so a job may overtake another one --------------

async function read(reference: string) {
  const { status = null, paidAt } = await redis.hgetall(`order:${reference}`);
  return { status, isPaid: paidAt !== undefined };
}

/** If it throws, BullMQ runs the job again, and after the last attempt keeps it as failed. */
async function run(reference: string) {
  try {
    const delivery = await deliver(reference, () => read(reference));
    const isNew =
      delivery && (await redis.hsetnx(`order:${reference}`, `${delivery}At`, Date.now()));
    console.log(isNew ? `${reference} is ${delivery}` : `no change for ${reference}`);
  } catch (error) {
    if (error instanceof RefusedError) throw new UnrecoverableError(error.message); // kept at once
    throw error;
  }
}

function work() {
  const connection = { url, maxRetriesPerRequest: null };
  const worker = new Worker<{ reference: string }>(name, ({ data }) => run(data.reference), {
    connection,
  });
  worker.on('error', console.error);
  worker.on('failed', (_job, error) => console.error(error));
  return worker;
}

// --- Jobs that failed for good: a person must look -----------------------------------------------

// The worker's event is lost with its process; the failed set is not.
async function reportFailed() {
  for (const { data, failedReason } of await queue.getFailed()) {
    console.error(`failed for good: ${data.reference}: ${failedReason}`);
  }
}

async function stop() {
  await queue.close();
  await redis.quit();
}

if (process.argv[2] === 'retry') {
  await queue.retryJobs({ state: 'failed' });
  await stop();
} else {
  const worker = work();
  await reportFailed();
  const alarm = setInterval(() => reportFailed().catch(console.error), 600_000);
  const server = createServer(handler).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
  });
  process.once('SIGTERM', async () => {
    clearInterval(alarm);
    server.close();
    await worker.close();
    await stop();
  });
}
