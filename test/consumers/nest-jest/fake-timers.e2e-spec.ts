import { PaymentClient } from 'merchant-payments';
import { type MockServer, startMockServer } from 'merchant-payments/mock-server';

// What the guide on testing tells for Jest.

let service: MockServer;

beforeAll(async () => {
  service = await startMockServer();
});

afterAll(() => service.close());

afterEach(() => void jest.useRealTimers());

test.each([
  ['doNotFake', { doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'] }],
  ['advanceTimers', { advanceTimers: true, doNotFake: ['nextTick', 'queueMicrotask'] }],
] as const)('creates payments under fake timers with %s', async (_name, config) => {
  const { url: baseUrl, apiKey, apiSecret } = service;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  jest.useFakeTimers(config);
  for (const merchantPaymentReference of ['order-a', 'order-b', 'order-c']) {
    await client.payments.create({ merchantPaymentReference, amount: 100, currency: 'EUR' });
  }
  jest.useRealTimers();
  await client.close();
});
