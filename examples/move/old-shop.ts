// A shop with a hand-written integration: where docs/move-an-existing-integration.md begins.

import type { AddressInfo } from 'node:net';
import express from 'express';
import { createByHand, isGenuine } from './by-hand.js';
import { copyStatus, database, readOrder, ship } from './orders.js';

const PRICE = 2500;

const app = express();
app.use(express.json());

app.post('/callbacks/payments', (request, response) => {
  const { body: payment } = request;
  if (!isGenuine(payment, request.get('x-timestamp'), request.get('x-signature'))) {
    response.sendStatus(401);
  } else if (readOrder(payment.merchantPaymentReference) === undefined) {
    response.sendStatus(503); // the service tries again
  } else {
    copyStatus(payment.merchantPaymentReference, payment);
    if (payment.status === 'paid') ship(payment.merchantPaymentReference, payment);
    response.sendStatus(200);
  }
});

app.post('/orders/:reference/pay', async ({ params: { reference } }, response) => {
  database.prepare('INSERT OR IGNORE INTO orders (reference) VALUES (?)').run(reference);
  await createByHand(reference, PRICE);
  response.json(readOrder(reference));
});

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});
process.once('SIGTERM', () => server.close(() => database.close()));
