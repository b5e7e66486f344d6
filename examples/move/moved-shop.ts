// The same shop on the same table, by docs/move-an-existing-integration.md. With CREATE_BY=store the store creates the
// payments of new orders, without it the hand-written code does.

import type { AddressInfo } from 'node:net';
import express from 'express';
import { callbackHandler, isPaid, RetryLaterError } from 'merchant-payments/node';
import { createByHand } from './by-hand.js';
import { copyStatus, database, readOrder, ship } from './orders.js';
import { client, store } from './store.js';

const PRICE = 2500;
const createByStore = process.env.CREATE_BY === 'store';

const app = express();
const handleCallback = callbackHandler({
  store,
  onPayment({ payment }, { order: reference, current }) {
    const { referenceNumber } = payment;
    const order = readOrder(reference);
    if (order === undefined) throw new RetryLaterError('order not stored yet');
    // The store does not know what the old route has heard, so the table decides too.
    const another = order.shipped_at !== null && order.reference_number !== referenceNumber;
    if (another && isPaid(payment)) console.error(`${reference} is paid twice: ${referenceNumber}`);
    if (current && !another) copyStatus(reference, payment); // unless the order's status is newer
    if (isPaid(payment)) ship(reference, payment); // unless it is shipped, or refunded
  },
});
app.all('/callbacks/payments', handleCallback); // before express.json(): it needs the raw body
app.use(express.json());

/** Stores an order: whether this click did, and whether the store creates its payment or the old code. */
const storeOrder = database.transaction((reference: string, amount: number) => {
  const { changes } = database
    .prepare('INSERT OR IGNORE INTO orders (reference, in_store) VALUES (?, ?)')
    .run(reference, createByStore ? 1 : 0);
  const isInStore = readOrder(reference)?.in_store === 1;
  const payment = { merchantPaymentReference: reference, amount, currency: 'EUR' };
  if (isInStore) store.record(payment, { sync: true });
  return { isNew: changes === 1, isInStore };
});

app.post('/orders/:reference/pay', async ({ params: { reference } }, response) => {
  const { isNew, isInStore } = storeOrder(reference, PRICE);
  if (isInStore) await store.send(reference);
  else if (isNew) await createByHand(reference, PRICE); // not again: the first may have created it
  response.json({ ...readOrder(reference), state: (await store.get(reference))?.state });
});

const recovery = store.startRecovery();
const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', () => {
  const { port } = server.address() as AddressInfo;
  console.log(`Waiting for callbacks at http://127.0.0.1:${port}/callbacks/payments`);
});
process.once('SIGTERM', async () => {
  await new Promise((resolve) => server.close(resolve));
  await handleCallback.idle();
  await recovery.stop();
  await client.close();
  database.close();
});
