import { test as base } from '@playwright/test';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';

/** Tests with the mock at the address that the shop's environment names. */
export const test = base.extend<object, { paymentService: MockServer }>({
  paymentService: [
    async ({}, use) => {
      await using service = await startMockServer({
        port: 4242,
        apiKey: 'mock_api_key',
        apiSecret: 'mock_api_secret',
        signingSecret: 'test_signing_secret',
        callbackUrl: 'http://127.0.0.1:3000/callbacks/payments',
        paymentPage: true,
      });
      await use(service);
    },
    { scope: 'worker', auto: true },
  ],
});

export { expect } from '@playwright/test';
