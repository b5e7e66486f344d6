import { PaymentClient } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';

afterEach(() => void jest.useRealTimers());

// As docs/test-your-integration.md has it.
test('creates payments under fake timers, on a new connection and on a kept one', async () => {
  const service = await startMockServer();
  const { url: baseUrl, apiKey, apiSecret } = service;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret });
  jest.useFakeTimers({
    doNotFake: ['setImmediate', 'clearImmediate', 'nextTick', 'queueMicrotask'],
  });
  for (const merchantPaymentReference of ['order-a', 'order-b', 'order-c']) {
    await client.payments.create({ merchantPaymentReference, amount: 100, currency: 'EUR' });
  }
  jest.useRealTimers();
  expect(service.payments.list()).toHaveLength(3);
  await client.close();
  await service.close();
});
