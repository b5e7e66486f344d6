// Payment callbacks in Express 4 or 5.
//
//   MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/express.ts

import type { AddressInfo } from 'node:net';
import express from 'express';
import { callbackHandler } from 'merchant-payments/node';
import { checkout, settle, store } from './memory-shop.js';

const app = express();

// Before express.json(): the signature covers the raw body, which a parser discards.
app.all('/callbacks/payments', callbackHandler({ store, onPayment: settle }));

app.use(express.json());
app.post('/orders', async (request, response) => {
  response.json(await checkout(request.body.reference));
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});
process.once('SIGTERM', () => server.close());
