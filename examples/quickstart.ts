// A shop and a mock of the service on one machine. The answer to a creation gets lost and the customer clicks
// again, yet there is one payment; its callback settles and ships the order. Then the mock sends callbacks
// that must be refused or retried, or that arrive too early or too late.
//
//   npm run quickstart

import { tracingChannel } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { isPaid, PaymentClient, RetryLaterError } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';
import type { CallbackTrace } from 'merchant-payments/receiver';
import { memoryStore } from 'merchant-payments/store';

const step = (title: string) => console.log(`\n${title}`);
const say = (who: string, what: string) => console.log(`  ${who.padEnd(9)} ${what}`);

// --- The service: the mock, on this machine ----------------------------------------------------

const signingSecret = 'whsec_of_the_quickstart';
const service = await startMockServer({ signingSecret, retryScheduleMs: [300, 300] });

// --- The merchant: an order book, a store and an endpoint for callbacks --------------------------

const { url: baseUrl, apiKey, apiSecret } = service;
const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
// In memory. In a database it survives a crash, and all instances share it.
const store = memoryStore({ client });
const orders = new Map<string, { status: string; isShipped: boolean }>();
const placeOrder = (reference: string) => {
  if (!orders.has(reference)) orders.set(reference, { status: 'not paid', isShipped: false });
};
const pay = (merchantPaymentReference: string) =>
  store.create({ merchantPaymentReference, amount: 2500, currency: 'EUR' });

/** A click on "Pay". */
async function click(reference: string) {
  placeOrder(reference);
  const { state, payment, replayed, error } = await pay(reference);
  const known = payment?.referenceNumber ?? `the payment may exist (${error?.code ?? 'as before'})`;
  say('merchant', `${reference}: ${replayed ? 'nothing sent' : 'sent'}, ${state}, ${known}`);
}
let databaseIsDown = false;

const handleCallback = callbackHandler({
  signingSecret,
  store, // settled by every callback
  // Called once for each status change.
  onPayment({ payment }, { current }) {
    if (databaseIsDown) {
      databaseIsDown = false;
      throw new Error('our database is down');
    }
    const reference = payment.merchantPaymentReference;
    const order = orders.get(reference);
    // Answered with 503, so that the service retries.
    if (order === undefined) throw new RetryLaterError('order not stored yet');
    // Ships each order once, however late the change is.
    if (isPaid(payment) && !order.isShipped) {
      order.isShipped = true;
      say('merchant', `ships ${reference}`);
    }
    // An older change must not overwrite the status.
    if (current) order.status = payment.status;
    say('merchant', `${reference} is "${order.status}"${current ? '' : ', as before'}`);
  },
  onRejected: ({ message }) => say('merchant', `refused: ${message.split(':')[0]}`),
  onError: (error) => say('merchant', `failed: ${(error as Error).message}`),
});

// Prints what the handler answers, and why.
tracingChannel<object, object>('merchant-payments:callback').asyncEnd.subscribe((message) => {
  const { status, outcome, code } = message as CallbackTrace;
  say('merchant', `answered ${status}: ${outcome}${code === undefined ? '' : `, ${code}`}`);
});

const merchant = createServer(handleCallback);
await new Promise<void>((resolve) => merchant.listen(0, '127.0.0.1', resolve));
const { port } = merchant.address() as AddressInfo;
service.callbackUrl = `http://127.0.0.1:${port}/callbacks/payments`;

// --- 1. to 4. One payment for an order ---------------------------------------------------------

step('1. The customer clicks "Pay"; the payment is created, and the answer gets lost');
service.faults.add({ on: 'request', type: 'lost-answer' });
await click('order-1001');

step('2. The customer clicks again; nothing is sent, since the payment may exist');
await click('order-1001');

step('3. The customer pays; the signed callback settles the order');
const referenceNumber = service.payments.list()[0]?.referenceNumber ?? '';
await service.setStatus(referenceNumber, 'paid');
await click('order-1001');
say('service', `${service.requests.length} request, ${service.payments.list().length} payment`);

step('4. A double click on another order');
await Promise.all([click('order-1002'), click('order-1002')]);
say('service', `${service.requests.length} requests, ${service.payments.list().length} payments`);

// --- 5. and 6. Callbacks that must be refused ---------------------------------------------------

step('5. A tampered callback is refused; the genuine one follows as a retry');
service.faults.add({ on: 'callback', type: 'tampered-body' });
await service.setStatus(referenceNumber, 'refunded');
await service.waitForDelivery({ referenceNumber, status: 'refunded', acknowledged: true });

step('6. A stale callback is refused; a fresh one follows as a retry');
service.faults.add({ on: 'callback', type: 'stale-timestamp', bySeconds: 3600 });
await service.setStatus(referenceNumber, 'disputed');
await service.waitForDelivery({ referenceNumber, status: 'disputed', acknowledged: true });

// --- 7. and 8. A retry and a duplicate ----------------------------------------------------------

step('7. A delivery fails at the merchant; the service retries, and nothing ships twice');
databaseIsDown = true;
await service.setStatus(referenceNumber, 'paid');
await service.waitForDelivery({ referenceNumber, attempt: 2, status: 'paid' });

step('8. The service delivers a callback again; the merchant answers 200 and does nothing');
await service.resend(referenceNumber);

// --- 9. and 10. Callbacks that arrive too early or too late -------------------------------------

step('9. A callback overtakes its order, which is stored a moment later; nothing is lost');
const early = (await pay('order-1003')).payment?.referenceNumber ?? '';
await service.setStatus(early, 'paid');
placeOrder('order-1003');
await service.waitForDelivery({ referenceNumber: early, acknowledged: true });

step('10. "paid" arrives after a newer change: the order ships, and keeps the newer status');
placeOrder('order-1004');
const late = (await pay('order-1004')).payment?.referenceNumber ?? '';
service.faults.add({ on: 'callback', type: 'reorder' });
await service.setStatus(late, 'paid');
await service.setStatus(late, 'settled');
await service.waitForDelivery({ referenceNumber: late, status: 'paid' });

step('What the service saw');
for (const { attempt, status, outcome, response: answer } of service.deliveries) {
  say(
    '',
    `${status.padEnd(9)} attempt ${attempt}: ${outcome}${answer ? `, ${answer.status}` : ''}`,
  );
}
console.log('\nThe order book');
for (const [reference, { status, isShipped }] of orders) {
  say('', `${reference}: "${status}", ${isShipped ? 'shipped' : 'not shipped'}`);
}

await client.close();
await service.close();
merchant.closeAllConnections();
merchant.close();
