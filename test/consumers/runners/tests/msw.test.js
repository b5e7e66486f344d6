/* global afterAll, beforeAll, test */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { PaymentClient } from 'merchant-payments';
import { createMockService } from 'merchant-payments/mock-server';
import { paymentServiceHandlers } from 'merchant-payments/msw';
import { callbackHandler } from 'merchant-payments/node';
import { setupServer } from 'msw/node';

const baseUrl = 'https://payments.invalid';
const service = createMockService();
const network = setupServer(...paymentServiceHandlers({ baseUrl, service }));
// Before msw listens, as in an application that is imported.
const client = new PaymentClient({
  baseUrl,
  apiKey: 'any key',
  apiSecret: 'any secret',
  fetch: globalThis.fetch,
});
const paid = [];
const application = createServer(
  callbackHandler({
    signingSecret: service.signingSecret,
    onPayment: ({ payment }) => void paid.push(payment.merchantPaymentReference),
  }),
);

beforeAll(async () => {
  network.listen({ onUnhandledRequest: 'error' });
  await new Promise((resolve) => application.listen(0, '127.0.0.1', resolve));
  service.callbackUrl = `http://127.0.0.1:${application.address().port}/callbacks`;
});
afterAll(async () => {
  application.close();
  network.close();
  await service.close();
});

test('a payment that is paid by msw reaches the application', async () => {
  const order = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };
  const { payment } = await client.payments.create(order);
  await service.setStatus(payment.referenceNumber, 'paid');
  assert.deepEqual(paid, ['order-1']);
});
