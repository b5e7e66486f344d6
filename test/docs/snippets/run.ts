// Runs the samples of the guides on testing, one after another in one process. They are bundled with this, in the same
// folder. What a sample declares as the reader's own is a global.

import { after } from 'node:test';
import { PaymentClient } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { signCallback } from 'merchant-payments/testing';
import { startMyApplication } from './application.js';

const paste = (name: string) => import(new URL(`${name}.js`, import.meta.url).href);

const signingSecret = process.env['MERCHANT_PAYMENTS_SIGNING_SECRET'] ?? '';
const service = await startMockServer({ signingSecret, retryScheduleMs: [10] });
const { url: baseUrl, apiKey, apiSecret } = service;
Object.assign(process.env, {
  MERCHANT_PAYMENTS_BASE_URL: baseUrl,
  MERCHANT_PAYMENTS_API_KEY: apiKey,
  MERCHANT_PAYMENTS_API_SECRET: apiSecret,
});

// docs/test-your-integration.md, docs/check-your-endpoint.md
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
await shop.checkout('order-retried');
const { checkRetry } = await paste('test-your-integration-2');
await checkRetry(service, 'order-retried');
await client.close();
await shop.close();
await service.close();

for (const number of [3, 4, 5]) await paste(`test-your-integration-${number}`);
for (const number of [1, 3]) await paste(`check-your-endpoint-${number}`);
// Tests of node:test, which runs them once they are imported.
for (const number of [1, 6]) await paste(`test-your-integration-${number}`);
await paste('check-your-endpoint-2');
after(() => application.close());
