// Payment callbacks in Express 4 or 5.
//
//   MERCHANT_PAYMENTS_SIGNING_SECRET=… npx tsx examples/express.ts

import type { AddressInfo } from 'node:net';
import express from 'express';
import { callbackHandler } from 'merchant-payments/node';

const app = express();

// Before express.json(): the signature is over the bytes, which a parser does not keep.
app.all(
  '/callbacks/payments',
  callbackHandler({
    signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
    async onPayment({ payment }) {
      console.log(`${payment.merchantPaymentReference} is ${payment.status}`);
    },
  }),
);

app.use(express.json());
app.post('/orders', (request, response) => {
  response.json({ ordered: request.body });
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});
process.once('SIGTERM', () => server.close());
