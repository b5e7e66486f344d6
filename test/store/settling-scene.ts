import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentClient } from '../../src/client/payment-client.js';
import { startMockServer } from '../../src/mock-server/server.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import type { PaymentStore } from '../../src/store/payment-store.js';

const SIGNING_SECRET = 'the signing secret of these tests';

type ReceiverOptions<Tx> = Omit<CallbackReceiverOptions<Tx>, 'signingSecret' | 'store'>;

/** The mock of the service, a store that sends to it, and a receiver that its callbacks reach. */
export async function startScene<
  Tx = undefined,
  Store extends PaymentStore<Tx> = PaymentStore<Tx>,
>({
  createStore,
  ...options
}: ReceiverOptions<Tx> & { createStore(client: PaymentClient): Store }) {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const mock = await startMockServer({
    callbackUrl: `http://127.0.0.1:${port}/`,
    signingSecret: SIGNING_SECRET,
    retryScheduleMs: [],
  });
  const { url: baseUrl, apiKey, apiSecret } = mock;
  const client = new PaymentClient({ baseUrl, apiKey, apiSecret, maxRetries: 0 });
  const store = createStore(client);
  server.on('request', callbackHandler<Tx>({ ...options, signingSecret: SIGNING_SECRET, store }));
  return {
    mock,
    client,
    store,
    async [Symbol.asyncDispose]() {
      await mock.close();
      await client.close();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
