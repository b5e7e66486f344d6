// The whole way of a payment on one machine: created at the mock service, paid, its signed callback
// received, verified and handled. Then what must be refused, and what must be retried.
//
//   npm run quickstart

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  CallbackVerificationError,
  createCallbackVerifier,
  PaymentClient,
} from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';

const step = (title: string) => console.log(`\n${title}`);
const say = (who: string, what: string) => console.log(`  ${who.padEnd(9)} ${what}`);

// --- The merchant: an order book and an endpoint for callbacks ---------------------------------

const orders = new Map([['order-1001', 'waiting for payment']]);
const handled = new Set<string>();
let databaseIsDown = false;

function handleCallback(rawBody: Buffer, headers: IncomingMessage['headers']): number {
  try {
    const { payment, key } = verify({ rawBody, headers });
    if (databaseIsDown) {
      databaseIsDown = false;
      say('merchant', 'authentic, but our database is down: 500, so that the service comes again');
      return 500;
    }
    if (handled.has(key)) {
      say('merchant', `a duplicate of ${key.slice(0, 8)}…: nothing to do, 200`);
      return 200;
    }
    handled.add(key);
    orders.set(payment.merchantPaymentReference, payment.status);
    say(
      'merchant',
      `authentic: ${payment.merchantPaymentReference} is now "${payment.status}", 200`,
    );
    return 200;
  } catch (error) {
    if (!(error instanceof CallbackVerificationError)) throw error;
    say('merchant', `refused with ${error.code}, 401`);
    say('', `${error.message.split(':')[0]}`);
    return error.code === 'INVALID_RECORD' ? 422 : 401;
  }
}

const MAX_BODY_BYTES = 65_536;

async function onRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > MAX_BODY_BYTES) {
      response.writeHead(413, { connection: 'close' }).end();
      return;
    }
    chunks.push(chunk);
  }
  // The bytes as they came, before anything parses them.
  response.writeHead(handleCallback(Buffer.concat(chunks), request.headers)).end();
}

const merchant = createServer((request, response) => {
  onRequest(request, response).catch(() => response.destroy());
});
await new Promise<void>((resolve) => merchant.listen(0, '127.0.0.1', resolve));
const { port } = merchant.address() as AddressInfo;

// --- The service: a fake one, on this machine --------------------------------------------------

const service = await startMockServer({
  callbackUrl: `http://127.0.0.1:${port}/callbacks/payments`,
  retryScheduleMs: [300, 300],
});
const verify = createCallbackVerifier({ signingSecret: service.signingSecret });

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

step('6. The service repeats itself; the merchant acts once');
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
