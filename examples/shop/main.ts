// A small shop: checkout, callbacks, and a page that waits for the payment. It reads DATABASE_URL, and
// MERCHANT_PAYMENTS_BASE_URL, _API_KEY, _API_SECRET and _SIGNING_SECRET.

import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import express, { type NextFunction, type Request, type Response } from 'express';
import { handleCallback } from './callbacks.js';
import { checkout } from './checkout.js';
import { client, pool, store } from './database.js';
import { endStreams, readOrder, streamOrder } from './events.js';

const PRICE = 2500; // in cents, as this shop takes the service's amounts to be
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

await store.setup();

const files = fileURLToPath(new URL('public', import.meta.url));
const page = readFileSync(`${files}/page.html`, 'utf8');

export const app = express();
app.disable('x-powered-by');
app.all('/callbacks/payments', handleCallback); // before anything parses its body

app.use((_request, response, next) => {
  response.set({
    'content-security-policy':
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    'referrer-policy': 'no-referrer', // anyone with an order's address can see the order
    'x-content-type-options': 'nosniff',
    'cache-control': 'no-store',
  });
  next();
});
app.use(express.static(files, { index: false, cacheControl: false }));
app.use(express.urlencoded({ extended: false }));

// The reference is part of the page, so that every click on it pays for the same order. It
// can't be guessed.
app.get('/', (_request, response) => {
  response.send(page.replaceAll('REFERENCE', randomUUID()));
});

app.post('/orders', async (request, response) => {
  const reference = String(request.body?.reference);
  if (!UUID.test(reference)) {
    response.sendStatus(400);
    return;
  }
  await checkout(reference, PRICE);
  response.redirect(303, `/orders/${reference}`);
});

app.param('reference', (_request, response, next, reference) => {
  if (UUID.test(reference)) next();
  else response.sendStatus(404);
});
app.get('/orders/:reference', async (request, response) => {
  const { reference } = request.params;
  if (await readOrder(reference)) response.send(page.replaceAll('REFERENCE', reference));
  else response.sendStatus(404);
});
app.get('/orders/:reference/events', streamOrder);
app.use(onError);

export function onError(error: Error, _request: Request, response: Response, next: NextFunction) {
  console.error(error);
  if (response.headersSent) next(error);
  else response.status(500).send('Something went wrong. Please reload this page.');
}

const server = app.listen(Number(process.env.PORT ?? 3000), '127.0.0.1', (error?: Error) => {
  if (error) throw error; // Express 5 also calls this when the port is in use
  const { port } = server.address() as AddressInfo;
  console.log(`The shop is at http://127.0.0.1:${port}/`);
});

// Sends payments that a crash or an unreachable service left unsent.
const recovery = store.startRecovery({ everyMs: 30_000 });

process.once('SIGTERM', async () => {
  setTimeout(() => process.exit(1), 25_000).unref(); // before the platform's SIGKILL
  endStreams();
  server.keepAliveTimeout = 1; // closes each connection after its answer
  await new Promise((resolve) => server.close(resolve)); // answers requests that have begun
  await handleCallback.idle(); // waits for an onPayment that exceeded its timeout, too
  await recovery.stop();
  await client.close();
  await pool.end();
});
