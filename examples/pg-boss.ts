// Exactly once, on any number of instances: the inbox's record, the order and the job that ships it
// are written in one transaction. pg-boss keeps its jobs in the same Postgres.
//
//   DATABASE_URL=postgres://… MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/pg-boss.ts

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RetryLaterError } from 'merchant-payments';
import { postgresInbox } from 'merchant-payments/inbox/postgres';
import { callbackHandler } from 'merchant-payments/node';
import pg from 'pg';
import PgBoss from 'pg-boss';

const connectionString = process.env.DATABASE_URL ?? '';
const queue = 'shipments';

const pool = new pg.Pool({ connectionString });
// An idle connection that breaks would end the process.
pool.on('error', (error) => console.error(error));
const inbox = postgresInbox(pool);
await inbox.setup();

// As in examples/order, where checkout stores the order before it creates the payment.
await pool.query(`CREATE TABLE IF NOT EXISTS orders (reference text PRIMARY KEY, status text);
  CREATE TABLE IF NOT EXISTS shipments (reference text PRIMARY KEY REFERENCES orders)`);

const boss = new PgBoss({ connectionString, schema: process.env.PGBOSS_SCHEMA ?? 'pgboss' });
boss.on('error', (error) => console.error(error));
await boss.start();
// After the 200 only the queue has the job: it retries for days, and keeps what failed.
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
  async onPayment({ payment }, { tx, stale }) {
    const { merchantPaymentReference: reference, status } = payment;
    // An older change must not turn the status back.
    const { rows } = await tx.query(
      'UPDATE orders SET status = CASE WHEN $3 THEN status ELSE $2 END WHERE reference = $1 RETURNING reference',
      [reference, status, stale],
    );
    // Answered with 503: the service retries. A 200 would lose the payment.
    if (rows.length === 0) throw new RetryLaterError('order not stored yet');
    if (!stale) console.log(`${reference} is ${status}`);
    if (status !== 'paid') return;

    // Once for each order, however late the change is.
    const shipped = await tx.query(
      'INSERT INTO shipments (reference) VALUES ($1) ON CONFLICT DO NOTHING RETURNING reference',
      [reference],
    );
    if (shipped.rows.length === 0) return;
    const db = { executeSql: (text: string, values: unknown[]) => tx.query(text, values) };
    const job = await boss.send(queue, { reference }, { db });
    if (job === null) throw new Error('not queued: is there such a queue?');
  },
});

await boss.work<{ reference: string }>(queue, { pollingIntervalSeconds: 0.5 }, async (jobs) => {
  for (const { data } of jobs) console.log(`${data.reference} is shipped`);
});

const server = createServer(handler).listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});
process.once('SIGTERM', async () => {
  server.close();
  await boss.stop();
  await pool.end();
});
