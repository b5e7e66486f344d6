import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentClient } from '../../src/client/payment-client.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import {
  CALL_TIMEOUT_MS,
  isRecorded,
  orderOf,
  RECOVER_EVERY_MS,
  type ShopConfig,
} from './shop-config.js';
import { openShop } from './shop-database.js';
import { describe, tell } from './worker-messages.js';

// A process of a shop: bundled and started by the fleet, its ShopConfig is the first argument.

const config = JSON.parse(process.argv[2] ?? '') as ShopConfig;
const client = new PaymentClient({ ...config.service, timeoutMs: CALL_TIMEOUT_MS, maxRetries: 0 });
const shop = openShop(config.kind, config.storeUrl, client);
const { inbox, outbox } = shop;
const handleCallback = callbackHandler<unknown>({
  signingSecret: config.signingSecret,
  onStale: 'process',
  inbox,
  outbox,
  onPayment: ({ key, payment }, { tx, stale }) => {
    const { merchantPaymentReference: reference, status } = payment;
    return shop.changeOrder(tx, { key, reference, status, stale });
  },
  onError: (error) => tell({ error: describe(error) }),
  onSecondPayment: ({ payment }) =>
    tell({ mistake: `a second payment of ${payment.merchantPaymentReference}` }),
});

async function buy(reference: string): Promise<string> {
  await shop.placeOrder(reference);
  const { state } = isRecorded(reference)
    ? await outbox.send(reference)
    : await outbox.create(orderOf(reference));
  return state;
}

const server = createServer(async (request, response) => {
  const [, path, reference = ''] = request.url?.split('/') ?? [];
  if (path !== 'buy') return handleCallback(request, response);
  try {
    response.end(await buy(reference));
  } catch (error) {
    tell({ error: `buy: ${describe(error)}` });
    const isOfService = (error as { requestOutcome?: string }).requestOutcome !== undefined;
    response.writeHead(isOfService ? 402 : 503).end();
  }
});
server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));

async function recover(): Promise<void> {
  await outbox.recover().catch((error) => tell({ error: `recover: ${describe(error)}` }));
  setTimeout(recover, RECOVER_EVERY_MS);
}
recover();
// The run has ended, and nothing else would end this process.
process.once('disconnect', () => process.exit());
