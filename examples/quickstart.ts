// An order on one machine: stored, its payment created at the mock service and paid, the signed callback
// verified and handled, the order shipped. Then callbacks that must be refused or retried, or that arrive
// too early or too late.
//
//   npm run quickstart

import { tracingChannel } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentClient, RetryLaterError } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';
import type { CallbackTrace } from 'merchant-payments/receiver';

const step = (title: string) => console.log(`\n${title}`);
const say = (who: string, what: string) => console.log(`  ${who.padEnd(9)} ${what}`);

// --- The merchant: an order book and an endpoint for callbacks ---------------------------------

const signingSecret = 'whsec_of_the_quickstart';
const orders = new Map<string, { status: string; isShipped: boolean }>();
const store = (reference: string) =>
  orders.set(reference, { status: 'waiting for payment', isShipped: false });
let databaseIsDown = false;

const handleCallback = callbackHandler({
  signingSecret,
  // Called once for each status change.
  onPayment({ payment }, { stale }) {
    if (databaseIsDown) {
      databaseIsDown = false;
      throw new Error('our database is down');
    }
    const reference = payment.merchantPaymentReference;
    const order = orders.get(reference);
    // Answered with 503, so that the service retries.
    if (order === undefined) throw new RetryLaterError('order not stored yet');
    // Once for each order, however late the change is.
    if (payment.status === 'paid' && !order.isShipped) {
      order.isShipped = true;
      say('merchant', `ships ${reference}`);
    }
    // An older change must not turn the status back.
    if (!stale) order.status = payment.status;
    say('merchant', `${reference} is "${order.status}"${stale ? ', as before' : ''}`);
  },
  onRejected: ({ message }) => say('merchant', `refused: ${message.split(':')[0]}`),
  onError: (error) => say('merchant', `failed: ${(error as Error).message}`),
});

// What the handler answers, and why.
tracingChannel<object, object>('merchant-payments:callback').asyncEnd.subscribe((message) => {
  const { status, outcome, code } = message as CallbackTrace;
  say('merchant', `answered ${status}: ${outcome}${code === undefined ? '' : `, ${code}`}`);
});

const merchant = createServer(handleCallback);
await new Promise<void>((resolve) => merchant.listen(0, '127.0.0.1', resolve));
const { port } = merchant.address() as AddressInfo;

// --- The service: the mock, on this machine ----------------------------------------------------

const service = await startMockServer({
  signingSecret,
  callbackUrl: `http://127.0.0.1:${port}/callbacks/payments`,
  retryScheduleMs: [300, 300],
});

// --- 1. A payment is created -------------------------------------------------------------------

step('1. The merchant stores the order, then creates its payment');
store('order-1001');
const client = new PaymentClient({
  baseUrl: service.url,
  apiKey: service.apiKey,
  apiSecret: service.apiSecret,
});
const createPayment = async (merchantPaymentReference: string) => {
  const input = { merchantPaymentReference, amount: 2500, currency: 'EUR' };
  const { payment, response } = await client.payments.create(input);
  say('service', `${response.status}: ${payment.referenceNumber}, status "${payment.status}"`);
  return payment.referenceNumber ?? '';
};
const referenceNumber = await createPayment('order-1001');

// --- 2. It is paid, and the service calls back -------------------------------------------------

step('2. The customer pays; the service sends a signed callback');
await service.setStatus(referenceNumber, 'paid');

// --- 3. and 4. What must be refused ------------------------------------------------------------

step('3. A tampered callback is refused; the genuine one follows as a retry');
service.faults.add({ on: 'callback', type: 'tampered-body' });
await service.setStatus(referenceNumber, 'refunded');
await service.waitForDelivery({ referenceNumber, status: 'refunded', acknowledged: true });

step('4. A stale callback is refused; a fresh one follows as a retry');
service.faults.add({ on: 'callback', type: 'stale-timestamp', bySeconds: 3600 });
await service.setStatus(referenceNumber, 'disputed');
await service.waitForDelivery({ referenceNumber, status: 'disputed', acknowledged: true });

// --- 5. and 6. What must be retried, and what must not be done twice ----------------------------

step('5. A delivery fails at the merchant; the service retries, and nothing ships twice');
databaseIsDown = true;
await service.setStatus(referenceNumber, 'paid');
await service.waitForDelivery({ referenceNumber, attempt: 2, status: 'paid' });

step('6. The service delivers a callback again; the merchant answers 200 and does nothing');
await service.resend(referenceNumber);

// --- 7. and 8. What arrives too early, and too late ---------------------------------------------

step('7. A callback overtakes its order, which is stored a moment later; nothing is lost');
const early = await createPayment('order-1002');
await service.setStatus(early, 'paid');
store('order-1002');
await service.waitForDelivery({ referenceNumber: early, acknowledged: true });

step('8. "paid" arrives after a newer change: the order ships, and keeps the newer status');
store('order-1003');
const late = await createPayment('order-1003');
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
