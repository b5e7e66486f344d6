import { defineConfig } from '@playwright/test';

export default defineConfig({
  workers: 1, // the shop knows one mock
  use: { baseURL: 'http://127.0.0.1:3000' },
  webServer: {
    command: 'npm start', // yours
    url: 'http://127.0.0.1:3000',
    env: {
      MERCHANT_PAYMENTS_BASE_URL: 'http://127.0.0.1:4242',
      MERCHANT_PAYMENTS_API_KEY: 'mock_api_key',
      MERCHANT_PAYMENTS_API_SECRET: 'mock_api_secret',
      MERCHANT_PAYMENTS_SIGNING_SECRET: 'test_signing_secret',
    },
  },
});
