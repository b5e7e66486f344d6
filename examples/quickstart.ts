// The whole way of a payment on one machine: created at the mock service, paid, its signed callback
// received, verified and handled. Then what must be refused, and what must be retried.
//
//   npm run quickstart

import { tracingChannel } from 'node:diagnostics_channel';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentClient } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';
import type { CallbackTrace } from 'merchant-payments/receiver';

const step = (title: string) => console.log(`\n${title}`);
const say = (who: string, what: string) => console.log(`  ${who.padEnd(9)} ${what}`);

// --- The merchant: an order book and an endpoint for callbacks ---------------------------------

const signingSecret = 'whsec_of_the_quickstart';
const orders = new Map([['order-1001', 'waiting for payment']]);
let databaseIsDown = false;

const handleCallback = callbackHandler({
  signingSecret,
  // Called once for each change of status, with a callback that is authentic and fresh.
  onPayment({ payment }) {
    if (databaseIsDown) {
      databaseIsDown = false;
      throw new Error('our database is down');
    }
    orders.set(payment.merchantPaymentReference, payment.status);
    say('merchant', `authentic: ${payment.merchantPaymentReference} is now "${payment.status}"`);
  },
  onRejected: ({ message }) => say('merchant', `refused: ${message.split(':')[0]}`),
  onError: (error) => say('merchant', `failed: ${(error as Error).message}`),
});

// What the handler answers, and why, for whoever wants to know.
tracingChannel<object, object>('merchant-payments:callback').asyncEnd.subscribe((message) => {
  const { status, outcome, code } = message as CallbackTrace;
  say('merchant', `answered ${status}: ${outcome}${code === undefined ? '' : `, ${code}`}`);
});

const merchant = createServer(handleCallback);
await new Promise<void>((resolve) => merchant.listen(0, '127.0.0.1', resolve));
const { port } = merchant.address() as AddressInfo;

// --- The service: a fake one, on this machine --------------------------------------------------

const service = await startMockServer({
  signingSecret,
  callbackUrl: `http://127.0.0.1:${port}/callbacks/payments`,
  retryScheduleMs: [300, 300],
});

// --- 1. A payment is created -------------------------------------------------------------------

step('1. The merchant creates a payment');
const client = new PaymentClient({
  baseUrl: service.url,
  apiKey: service.apiKey,
  apiSecret: service.apiSecret,
});
const { payment, response } = await client.payments.create({
  merchantPaymentReference: 'order-1001',
  amount: 2500,
  currency: 'EUR',
});
const referenceNumber = payment.referenceNumber ?? '';
say('service', `${response.status}: payment ${referenceNumber}, status "${payment.status}"`);

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

step('5. A delivery fails at the merchant; the service tries again');
databaseIsDown = true;
await service.setStatus(referenceNumber, 'paid');
await service.waitForDelivery({ referenceNumber, attempt: 2, status: 'paid' });

step('6. The service repeats itself; the merchant acts once, and answers 200');
await service.resend(referenceNumber);

step('What the service saw');
for (const { attempt, status, outcome, response: answer } of service.deliveries) {
  say(
    '',
    `${status.padEnd(9)} attempt ${attempt}: ${outcome}${answer ? `, ${answer.status}` : ''}`,
  );
}
console.log(`\nThe order book: order-1001 is "${orders.get('order-1001')}".`);

await client.close();
await service.close();
merchant.closeAllConnections();
merchant.close();
