// Slow work in a queue, in the very transaction that records the callback: the job and the merchant's
// own rows are there together or not at all. pg-boss keeps its jobs in the same Postgres.
//
//   DATABASE_URL=postgres://… MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/pg-boss.ts

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { PaymentStatusRecord } from 'merchant-payments';
import { postgresInbox } from 'merchant-payments/inbox/postgres';
import { callbackHandler } from 'merchant-payments/node';
import pg from 'pg';
import PgBoss from 'pg-boss';

const connectionString = process.env.DATABASE_URL ?? '';
const queue = 'payment-callbacks';

const pool = new pg.Pool({ connectionString });
// A connection that breaks while nobody uses it; without a listener it would end the process.
pool.on('error', (error) => console.error(error));
const inbox = postgresInbox(pool);
await inbox.setup();

const boss = new PgBoss({ connectionString, schema: process.env.PGBOSS_SCHEMA ?? 'pgboss' });
boss.on('error', (error) => console.error(error));
await boss.start();
// After the 200 the queue is the only one that has the change: it tries for days, and keeps what failed.
const failed = `${queue}-failed`;
await boss.createQueue(failed);
await boss.createQueue(queue, {
  name: queue,
  retryLimit: 20,
  retryDelay: 1,
  retryBackoff: true,
  deadLetter: failed,
});

const handler = callbackHandler({
  signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
  inbox,
  async onPayment({ payment, key }, { tx }) {
    const db = { executeSql: (text: string, values: unknown[]) => tx.query(text, values) };
    const job = await boss.send(queue, payment, { id: toUuid(key), db });
    // Without such a queue, and with a job of this id, which only an inbox that was pruned can ask for.
    if (job === null && (await boss.getJobById(queue, toUuid(key))) === null) {
      throw new Error(`not queued: ${key}`);
    }
  },
});

await boss.work<PaymentStatusRecord>(queue, { pollingIntervalSeconds: 0.5 }, async (jobs) => {
  for (const { data } of jobs) {
    console.log(`${data.merchantPaymentReference} is ${data.status}`);
  }
});

/** pg-boss wants a UUID: half of a digest of the key, written as one. */
function toUuid(key: string): string {
  const hex = createHash('sha256').update(key).digest('hex');
  return [
    [0, 8],
    [8, 12],
    [12, 16],
    [16, 20],
    [20, 32],
  ]
    .map((part) => hex.slice(...part))
    .join('-');
}

const server = createServer(handler).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});
process.once('SIGTERM', async () => {
  server.close();
  await boss.stop();
  await pool.end();
});
