/* global test */
import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { PaymentClient } from 'merchant-payments';
import { startMockServer } from 'merchant-payments/mock-server';
import { callbackHandler } from 'merchant-payments/node';

test('a payment that is paid reaches the application', async () => {
  const service = await startMockServer();
  const paid = [];
  const application = createServer(
    callbackHandler({
      signingSecret: service.signingSecret,
      onPayment: ({ payment }) => void paid.push(payment.merchantPaymentReference),
    }),
  );
  await new Promise((resolve) => application.listen(0, '127.0.0.1', resolve));
  service.callbackUrl = `http://127.0.0.1:${application.address().port}/callbacks`;
  const client = new PaymentClient({
    baseUrl: service.url,
    apiKey: service.apiKey,
    apiSecret: service.apiSecret,
  });

  const order = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };
  const { payment } = await client.payments.create(order);
  await service.setStatus(payment.referenceNumber, 'paid');
  assert.deepEqual(paid, ['order-1']);

  await client.close();
  application.close();
  await service.close();
});
