import { setupServer } from 'msw/node';
import { afterEach, expect, test } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { createMockService } from '../../src/mock-server/index.js';
import { paymentServiceHandlers } from '../../src/msw/index.js';
import { created, startRawServer } from '../client/raw-server.js';

const credentials = { apiKey: 'key', apiSecret: 'secret' };
const order = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };

const service = createMockService(credentials);
// Where nothing listens, so that a request that passes msw by fails.
const baseUrl = 'http://127.0.0.1:1';
const network = setupServer(...paymentServiceHandlers({ baseUrl, service }));
const listen = () => network.listen({ onUnhandledRequest: 'error' });
afterEach(() => {
  network.close();
  service.reset();
});

const open = (fetch = globalThis.fetch) =>
  new PaymentClient({ baseUrl, ...credentials, maxRetries: 0, fetch });

test.each([
  ['when it was made before msw listens', open, listen],
  ['when it was made after', undefined, listen],
])('a client with the global fetch is answered by msw, %s', async (_when, before, start) => {
  const made = before?.();
  start();
  const client = made ?? open();
  await client.payments.create(order);
  await client.request({ method: 'GET', path: '/x' }).catch(() => undefined);
  expect(service.requests.map(({ path }) => path)).toEqual(['/api/payments', '/x']);
});

test('a client is answered by msw each time it listens, and by the service in between', async () => {
  const server = await startRawServer({ answer: () => created });
  const handlers = paymentServiceHandlers({ baseUrl: server.url, service });
  const client = new PaymentClient({
    baseUrl: server.url,
    ...credentials,
    fetch: globalThis.fetch,
  });
  for (const count of [1, 2]) {
    network.use(...handlers);
    listen();
    await client.payments.create(order);
    network.close();
    expect(service.requests).toHaveLength(count);
    await client.payments.create(order);
    expect(server.requests).toHaveLength(count);
  }
});
