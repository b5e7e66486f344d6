// Every subpath by `import`; then a payment, its callback and a forged one.

import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { PaymentClient } from 'merchant-payments';
import { verifyCallback } from 'merchant-payments/callback';
import { startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';
import { signCallback } from 'merchant-payments/testing';

const { exports: entries } = createRequire(import.meta.url)('merchant-payments/package.json');
// The subpaths of which the peer is optional, and what names it.
const peers = { './msw': /msw/, './opentelemetry': /@opentelemetry\/api/ };
const modules = Object.keys(entries).filter((subpath) => typeof entries[subpath] === 'object');
const undeclared = [];
let loaded = 0;
for (const subpath of modules) {
  const name = `merchant-payments${subpath.slice(1)}`;
  try {
    assert.ok(Object.keys(await import(name)).length > 0, `${name} exports nothing`);
    loaded += 1;
  } catch (error) {
    // An optional peer that is not installed here: the error must name it.
    if (peers[subpath]?.test(error.message)) continue;
    undeclared.push(`${name}: ${error.message}`);
  }
}
assert.deepEqual(undeclared, []);
const withoutPeer = Object.keys(peers).length;
assert.equal(
  loaded,
  modules.length - withoutPeer,
  'only what has a peer may fail to load without it',
);

{
  const signingSecret = 'consumer-signing-secret';
  const received = [];
  const handle = callbackHandler({
    signingSecret,
    onPayment: ({ payment }) => void received.push(payment.status),
  });
  const server = createServer((request, response) => void handle(request, response));
  await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
  const callbackUrl = `http://127.0.0.1:${server.address().port}`;
  const service = await startMockServer({ signingSecret, callbackUrl });
  const { url: baseUrl, apiKey, apiSecret } = service;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  const order = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };
  const { payment } = await client.payments.create(order);
  await service.setStatus(payment.referenceNumber, 'paid');
  const { referenceNumber } = payment;
  const { outcome } = await service.waitForDelivery({ referenceNumber, status: 'paid' });
  assert.equal(outcome, 'acknowledged');
  assert.equal(received.at(-1), 'paid');
  const callback = signCallback({ payment: { status: 'paid' }, signingSecret });
  assert.equal(verifyCallback(callback, { signingSecret }).payment.status, 'paid');
  const wrong = () => verifyCallback(callback, { signingSecret: 'another-secret' });
  assert.throws(wrong, { code: 'SIGNATURE_MISMATCH' });
  await client.close();
  await service.close();
  await new Promise((resolve) => server.close(resolve));
  console.log(`${loaded} subpaths imported, payment created, callback verified`);
}
