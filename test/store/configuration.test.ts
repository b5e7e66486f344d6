import { expect, it } from 'vitest';
import { PaymentClient } from '../../src/client/payment-client.js';
import { memoryStore } from '../../src/store/memory.js';
import { order } from './orders.js';

const missing = {
  code: 'INVALID_OPTION',
  message: expect.stringContaining('set MERCHANT_PAYMENTS_API_KEY, MERCHANT_PAYMENTS_API_SECRET'),
};

it('fails at the start if a variable of the client is missing', async () => {
  const env: Record<string, string> = { MERCHANT_PAYMENTS_BASE_URL: 'https://payments.invalid' };
  const store = memoryStore({ client: PaymentClient.fromEnv({}, env) });
  await expect(store.setup()).rejects.toMatchObject(missing);
  await expect(store.recover()).rejects.toMatchObject(missing);
  expect(() => store.startRecovery()).toThrow(expect.objectContaining(missing));
  await expect(store.create(order('order-1'))).rejects.toMatchObject(missing);
  Object.assign(env, { MERCHANT_PAYMENTS_API_KEY: 'key', MERCHANT_PAYMENTS_API_SECRET: 'secret' });
  await store.setup();
  await store.startRecovery().stop();
});

it('needs no configuration without a client', async () => {
  await memoryStore().setup();
});
