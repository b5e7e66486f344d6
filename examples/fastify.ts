// Payment callbacks in Fastify 4 or 5.
//
//   MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/fastify.ts

import fastify from 'fastify';
import { callbackPlugin } from 'merchant-payments/fastify';
import { checkout, settle, store } from './memory-shop.js';

const app = fastify();

// Encapsulated: only this route gets raw bodies; other routes get parsed ones as before.
app.register(callbackPlugin, {
  path: '/callbacks/payments',
  store,
  onPayment: settle,
});

app.post<{ Body: { reference: string } }>('/orders', ({ body }) => checkout(body.reference));

const address = await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT ?? 3000) });
console.log(`Waiting for callbacks at ${address}/callbacks/payments`);
process.once('SIGTERM', () => app.close());
