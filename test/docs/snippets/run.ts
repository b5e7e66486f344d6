// Runs the samples of README.md, the open points and the testing guide, one after another in one process. They are
// bundled with this, in the same folder. What a sample declares as the reader's own is a global.

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after } from 'node:test';
import type { PGlite } from '@electric-sql/pglite';
import { PaymentClient } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { signCallback } from 'merchant-payments/testing';
import { runCommandLine } from '../../../src/cli/command-line.js';
import { terminalOf } from '../../../src/cli/output.js';
import { listen, startMyApplication } from './application.js';
import { DOCUMENTED_URL } from './documented-url.js';

const folder = import.meta.dirname;
const paste = (name: string) => import(new URL(`${name}.js`, import.meta.url).href);

const signingSecret = process.env['MERCHANT_PAYMENTS_SIGNING_SECRET'] ?? '';
const service = await startMockServer({ signingSecret, retryScheduleMs: [10] });
const { url: baseUrl, apiKey, apiSecret } = service;
Object.assign(process.env, {
  MERCHANT_PAYMENTS_BASE_URL: baseUrl,
  MERCHANT_PAYMENTS_API_KEY: apiKey,
  MERCHANT_PAYMENTS_API_SECRET: apiSecret,
});

// README.md
const readme = await paste('README-1');
const pool: PGlite = readme.pool;
await pool.exec(readFileSync('examples/shop/schema.sql', 'utf8'));
await readme.inbox.setup();
await readme.outbox.setup();
assert.equal(await readme.checkout('order-1001', 2500), 'created');
const endpoint = await listen(readme.handleCallback);
Object.assign(globalThis, { endpointUrl: endpoint.url });
await paste('README-2');
const { rows } = await pool.query('SELECT status FROM orders JOIN shipments USING (reference)');
assert.deepEqual(rows, [{ status: 'paid' }]);
const checkCommand = readFileSync('README.md', 'utf8').match(
  /npx merchant-payments (check .*)/,
)?.[1];
const exitCode = await runCommandLine(
  (checkCommand ?? '').replace(DOCUMENTED_URL, endpoint.url).split(' '),
  terminalOf(process),
);
assert.equal(exitCode, 0);
await endpoint.close();
await pool.close();

// docs/open-points.md
const discovery = ['discover', '--base-url', baseUrl, '--yes', '--output'];
assert.equal(
  await runCommandLine([...discovery, `${folder}/service-profile.json`], terminalOf(process)),
  0,
);
process.chdir(folder);
for (const number of [1, 2]) await paste(`open-points-${number}`);

// docs/test-your-integration.md
const application = await startMyApplication({ signingSecret: 'a secret for tests' });
Object.assign(globalThis, {
  application,
  startMyApplication,
  onPayment: async () => undefined,
  orders: { store: application.storeOrder },
  shipments: { count: application.shipmentsOf },
  captured: signCallback({ payment: {}, signingSecret: 'another secret' }),
});

const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
const shop = await startMyApplication({ client, signingSecret });
service.callbackUrl = shop.callbackUrl;
await shop.checkout('order-1');
const referenceNumber = service.payments.list().at(-1)?.referenceNumber ?? '';
const { checkRetry } = await paste('test-your-integration-2');
await checkRetry(service, referenceNumber);
await client.close();
await shop.close();
await service.close();

for (const number of [3, 4, 5, 6, 7, 10]) await paste(`test-your-integration-${number}`);
// Tests of node:test, which runs them once they are imported.
for (const number of [1, 8, 9, 11]) await paste(`test-your-integration-${number}`);
after(() => application.close());
