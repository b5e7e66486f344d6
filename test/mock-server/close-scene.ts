// Run by server.test.ts in a separate process: opens everything a mock server can have open, closes
// the server, and prints what kept the process alive before, during and after.
import assert from 'node:assert/strict';
import http from 'node:http';
import { startMockServer } from '../../src/mock-server/index.js';
import { basic, order } from './merchant-client.js';
import { startEndpoint } from './merchant-endpoint.js';

const KINDS = ['TCPServerWrap', 'TCPSocketWrap', 'Timeout'];

function countResources(): Record<string, number> {
  const resources = process.getActiveResourcesInfo();
  const entries = KINDS.map((kind) => [kind, resources.filter((one) => one === kind).length]);
  return Object.fromEntries(entries);
}

const before = countResources();
const endpoint = await startEndpoint((count) => (count === 1 ? 500 : undefined));
const server = await startMockServer({ callbackUrl: endpoint.url });
const agent = new http.Agent({ keepAlive: true });

function create(): Promise<number | undefined> {
  const headers = {
    authorization: basic(server.apiKey, server.apiSecret),
    'content-type': 'application/json',
  };
  return new Promise((resolve, reject) => {
    http
      .request(`${server.url}/api/payments`, { method: 'POST', agent, headers })
      .on('response', (response) => response.resume().on('end', () => resolve(response.statusCode)))
      .on('error', reject)
      .end(JSON.stringify(order));
  });
}

assert.equal(await create(), 201);
const referenceNumber = server.payments.list()[0]?.referenceNumber ?? '';
const retrying = await server.setStatus(referenceNumber, 'paid');
assert.equal(retrying.state, 'retrying');
const unanswered = server.setStatus(referenceNumber, 'refunded');
await endpoint.waitFor(2);

server.faults.add({ on: 'request', type: 'hang' });
server.faults.add({ on: 'request', type: 'delay', delayMs: 3_600_000 });
const hanging = assert.rejects(create());
const delayed = assert.rejects(create());
while (server.requests.length < 3) await new Promise(setImmediate);
const waiting = assert.rejects(server.waitForDelivery({ status: 'never' }), /was closed/);
// A settled turn, in which the sockets of what has ended are gone.
for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
const during = countResources();

await server.close();
assert.equal((await unanswered).state, 'cancelled');
assert.equal(retrying.state, 'cancelled');
await Promise.all([hanging, delayed, waiting]);
for (let turn = 0; turn < 20; turn += 1) await new Promise(setImmediate);
const after = countResources();
process.stdout.write(JSON.stringify({ before, during, after }));

// Last, so that it is not this that closed the sockets.
agent.destroy();
await endpoint[Symbol.asyncDispose]();
