// Payment callbacks in Hono. On Bun, Deno and Workers export `app` instead of serving it.
//
//   MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/hono.ts

import { serve } from '@hono/node-server';
import { Hono } from 'hono';
import { callbackHandler } from 'merchant-payments/fetch';
import { checkout, settle, store } from './memory-shop.js';

const handleCallback = callbackHandler({ store, onPayment: settle });

const app = new Hono();
app.all('/callbacks/payments', (context) => handleCallback(context.req.raw));
app.post('/orders', async (context) => {
  const { reference } = await context.req.json();
  return context.json(await checkout(reference));
});

const options = {
  fetch: app.fetch,
  hostname: '127.0.0.1',
  port: Number(process.env.PORT ?? 3000),
};
const server = serve(options, ({ port }) => {
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});
process.once('SIGTERM', () => server.close());
