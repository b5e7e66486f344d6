import { PaymentClient } from '../../src/client/payment-client.js';

/** For an outbox that sends nothing. */
export const unusedClient = new PaymentClient({
  baseUrl: 'https://payments.invalid',
  apiKey: 'key',
  apiSecret: 'secret',
});
