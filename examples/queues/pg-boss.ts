// Slow work in pg-boss, which keeps its jobs in the same Postgres: the change's record, the order
// and the job are written in one transaction. Needs pg-boss 12.38 or a later 12, which needs Node 22.12.
//
//   DATABASE_URL=postgres://… WAREHOUSE_URL=http://… MERCHANT_PAYMENTS_SIGNING_SECRET=… \
//     npx tsx examples/queues/pg-boss.ts
//   npx tsx examples/queues/pg-boss.ts redrive   # runs jobs that failed for good again

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { callbackHandler, isPaid, RetryLaterError } from 'merchant-payments/node';
import { postgresStore } from 'merchant-payments/postgres';
import pg from 'pg';
import { type Job, type JobResult, PgBoss } from 'pg-boss';
import { deliver, RefusedError } from './warehouse.js';

const connectionString = process.env.DATABASE_URL ?? '';
const queue = 'deliveries';
const failed = 'deliveries-failed';

const pool = new pg.Pool({ connectionString });
pool.on('error', ({ message }) => console.error(message)); // otherwise a broken idle connection crashes the process
const store = postgresStore(pool);
await store.setup();
await pool.query(`CREATE TABLE IF NOT EXISTS orders (merchant_payment_reference text PRIMARY KEY,
  status text, is_paid boolean NOT NULL DEFAULT false, delivery text)`);

const boss = new PgBoss({ connectionString, schema: process.env.PGBOSS_SCHEMA ?? 'pgboss' });
boss.on('error', console.error);
await boss.start();
await boss.createQueue(failed, { retentionSeconds: 365 * 24 * 3600 });
await boss.createQueue(queue, {
  retryLimit: 20, // over about four days
  retryDelay: 1,
  retryBackoff: true,
  retryDelayMax: 12 * 3600,
  deadLetter: failed,
});

// --- The callback: stores the order's state and adds a job ---------------------------------------

const handler = callbackHandler({
  store,
  async onPayment({ payment }, { tx, order: reference, current }) {
    const { status } = payment;
    const { rowCount } = await tx.query(
      'UPDATE orders SET is_paid = is_paid OR $2 WHERE merchant_payment_reference = $1',
      [reference, isPaid(payment)],
    );
    // Checked here: a job that waits for its order would fail for good in the end.
    if (rowCount === 0) throw new RetryLaterError('order not stored yet');
    if (current) {
      await tx.query('UPDATE orders SET status = $2 WHERE merchant_payment_reference = $1', [
        reference,
        status,
      ]);
    }
    const db = { executeSql: (text: string, values?: unknown[]) => tx.query(text, values) };
    const job = await boss.send(queue, { reference }, { db });
    if (job === null) throw new Error('not queued: is there such a queue?');
    if (current) console.log(`${reference} is ${status}`);
  },
});

// --- The worker: it reads the order, not the job, so a job may overtake another one --------------

async function read(reference: string) {
  const { rows } = await pool.query(
    'SELECT status, is_paid AS "isPaid" FROM orders WHERE merchant_payment_reference = $1',
    [reference],
  );
  return rows[0];
}

/** If it throws, pg-boss runs the job again, and after the last attempt moves it to `failed`. */
async function run({ id, data: { reference } }: Job<{ reference: string }>): Promise<JobResult> {
  try {
    const delivery = await deliver(reference, () => read(reference));
    const { rows } = await pool.query(
      `UPDATE orders SET delivery = $2
       WHERE merchant_payment_reference = $1 AND delivery IS DISTINCT FROM $2 RETURNING 1`,
      [reference, delivery],
    );
    console.log(rows.length > 0 ? `${reference} is ${delivery}` : `no change for ${reference}`);
    return { id, status: 'completed' };
  } catch (error) {
    console.error(error);
    if (!(error instanceof RefusedError)) throw error;
    return { id, status: 'deadletter', output: { message: error.message } };
  }
}

function work() {
  const options = { pollingIntervalSeconds: 0.5, perJobResults: true } as const;
  return boss.work(queue, options, (jobs: Job<{ reference: string }>[]) =>
    Promise.all(jobs.map(run)),
  );
}

// --- Jobs that failed for good: a person must look -----------------------------------------------

async function reportFailed() {
  const jobs = await boss.findJobs<{ reference: string }>(failed, { queued: true });
  for (const { data } of jobs) console.error(`failed for good: ${data.reference}`);
}

async function stop() {
  await boss.stop();
  await pool.end();
}

if (process.argv[2] === 'redrive') {
  console.log(`${await boss.redrive(failed)} jobs run again`);
  await stop();
} else {
  await work();
  await reportFailed();
  const alarm = setInterval(() => reportFailed().catch(console.error), 600_000);
  const server = createServer(handler).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
  });
  process.once('SIGTERM', async () => {
    clearInterval(alarm);
    server.close();
    await stop();
  });
}
