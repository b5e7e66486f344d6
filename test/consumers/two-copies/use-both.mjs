// Two installs at once, as a nested dependency brings, and the two builds of each: an error, an
// store or a mock of one copy is right for the code of another.

import assert from 'node:assert/strict';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import path from 'node:path';

const require = createRequire(import.meta.url);
const nested = 'node_modules/shop-plugin/node_modules/merchant-payments';
cpSync('node_modules/merchant-payments', nested, { recursive: true });
const manifest = path.join(nested, 'package.json');
const other = { ...JSON.parse(readFileSync(manifest, 'utf8')), version: '99.0.0' };
writeFileSync(manifest, JSON.stringify(other));
const plugin = 'export const load = (name) => import(name);\n';
writeFileSync('node_modules/shop-plugin/index.mjs', plugin);
writeFileSync('node_modules/shop-plugin/index.cjs', 'module.exports = require;\n');
const { load } = await import('./node_modules/shop-plugin/index.mjs');
const requireNested = require('./node_modules/shop-plugin/index.cjs');
assert.equal(requireNested('merchant-payments/package.json').version, '99.0.0');

const copies = {
  'own, imported': (name) => import(name),
  'own, required': async (name) => require(name),
  'nested, imported': load,
  'nested, required': async (name) => requireNested(name),
};
const roots = {};
for (const [copy, loadFrom] of Object.entries(copies)) {
  roots[copy] = await loadFrom('merchant-payments');
}
const apis = Object.values(roots);
assert.equal(new Set(apis.map((api) => api.MerchantPaymentsError)).size, 4, 'four sets of classes');

const isErrorClass = (value) => typeof value === 'function' && value.prototype instanceof Error;
// By the chain itself: the classes' own `instanceof` is what is tested.
function isDerived(errorClass, base) {
  let current = errorClass;
  while (current !== null && current !== base) current = Object.getPrototypeOf(current);
  return current === base;
}

// RequestError asks for a requestOutcome, which none of these has.
const names = Object.keys(apis[0]).filter(
  (name) => name !== 'RequestError' && isErrorClass(apis[0][name]),
);
assert.ok(names.length >= 10, `error classes: ${names}`);
let pairs = 0;
for (const maker of apis) {
  for (const name of names.filter((each) => each !== 'MerchantPaymentsError')) {
    // Without its constructor: their parameters differ, and `instanceof` asks the prototype.
    const error = Object.create(maker[name].prototype);
    for (const judge of apis) {
      for (const candidate of names) {
        const isKin = isDerived(maker[name], maker[candidate]);
        assert.equal(error instanceof judge[candidate], isKin, `${name} instanceof ${candidate}`);
        pairs += 1;
      }
    }
  }
}

const signingSecret = 'two-copies-signing-secret';
let combinations = 0;
for (const loadOuter of Object.values(copies)) {
  for (const loadInner of Object.values(copies)) {
    const { callbackHandler } = await loadOuter('merchant-payments/node');
    const { PaymentClient, InvalidCredentialsError } = await loadOuter('merchant-payments');
    const { memoryStore } = await loadInner('merchant-payments/store');
    const { startMockServer } = await loadInner('merchant-payments/mock-server');
    const { InvalidCredentialsError: Other } = await loadInner('merchant-payments');
    const runs = [];
    const store = memoryStore();
    const handle = callbackHandler({ signingSecret, store, onPayment: () => void runs.push(1) });
    const server = createServer((request, response) => void handle(request, response));
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
    const callbackUrl = `http://127.0.0.1:${server.address().port}`;
    const service = await startMockServer({ signingSecret, callbackUrl });
    const { url: baseUrl, apiKey, apiSecret } = service;
    const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
    const stranger = new PaymentClient({ baseUrl, apiKey, apiSecret: 'wrong-secret' });
    const order = { merchantPaymentReference: 'order-1', amount: 1, currency: 'EUR' };
    const { payment } = await client.payments.create(order);
    const { referenceNumber } = payment;
    const created = runs.length;
    service.faults.add({ on: 'callback', type: 'duplicate' });
    await service.setStatus(referenceNumber, 'paid');
    await service.waitForDelivery({ referenceNumber, status: 'paid' });
    assert.equal(
      runs.length,
      created + 1,
      'a duplicate ran the merchant code again, or nothing ran',
    );
    await assert.rejects(stranger.payments.create(order), (error) => {
      assert.ok(error instanceof InvalidCredentialsError && error instanceof Other);
      return true;
    });
    await client.close();
    await stranger.close();
    await service.close();
    await new Promise((resolve) => server.close(resolve));
    combinations += 1;
  }
}
console.log(
  `${pairs} instanceof answers, ${combinations} pairs of receiver and store, client and mock`,
);
