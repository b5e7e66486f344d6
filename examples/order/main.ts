// An order from checkout to paid, with Postgres: docs/order-from-checkout-to-paid.md explains it.
//
//   psql "$DATABASE_URL" -f examples/order/schema.sql
//   npx tsx examples/order/main.ts
//
// It reads DATABASE_URL, and MERCHANT_PAYMENTS_BASE_URL, _API_KEY, _API_SECRET and _SIGNING_SECRET.

import type { AddressInfo } from 'node:net';
import express from 'express';
import { handleCallback } from './callbacks.js';
import { checkout, client } from './checkout.js';
import { inbox, pool } from './database.js';
import { listOpenOrders } from './open-orders.js';

await inbox.setup();

const app = express();
app.all('/callbacks/payments', handleCallback); // before express.json()
app.use(express.json());
app.post('/orders', async (request, response) => {
  response.json({ creation: await checkout(request.body) });
});
const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});

// Reports open orders to a person. It sends nothing.
const sweep = setInterval(() => {
  listOpenOrders(60).then((open) => {
    if (open.length > 0) console.warn('open orders:', open);
  }, console.error);
}, 3_600_000);

process.once('SIGTERM', async () => {
  clearInterval(sweep);
  setTimeout(() => process.exit(1), 25_000).unref(); // before the platform's SIGKILL
  await new Promise((resolve) => server.close(resolve)); // answers what has begun
  await handleCallback.idle(); // and waits for an onPayment that outlived its timeout
  await client.close();
  await pool.end();
});
