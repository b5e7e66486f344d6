// Every subpath by `require`, then a callback.

const assert = require('node:assert/strict');
const { verifyCallback } = require('merchant-payments/callback');
const { signCallback } = require('merchant-payments/testing');
const { exports: entries } = require('merchant-payments/package.json');

// The subpaths of which the peer is optional, and what names it.
const peers = { './msw': /msw/, './opentelemetry': /@opentelemetry\/api/ };
const modules = Object.keys(entries).filter((subpath) => typeof entries[subpath] === 'object');
const undeclared = [];
let loaded = 0;
for (const subpath of modules) {
  const name = `merchant-payments${subpath.slice(1)}`;
  try {
    assert.ok(Object.keys(require(name)).length > 0, `${name} exports nothing`);
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

const signingSecret = 'consumer-signing-secret';
const callback = signCallback({ payment: { status: 'paid' }, signingSecret });
assert.equal(verifyCallback(callback, { signingSecret }).payment.status, 'paid');
console.log(`${loaded} subpaths required, callback verified`);
