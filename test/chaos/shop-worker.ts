import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentClient } from '../../src/client/payment-client.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import type { StoredPayment } from '../../src/store/stored-payment.js';
import {
  CALL_TIMEOUT_MS,
  isRecorded,
  LOOK_UP_PATH,
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
const { store } = shop;
const handleCallback = callbackHandler<unknown>({
  signingSecret: config.signingSecret,
  store,
  onPayment({ key, payment }, { tx, order, current, secondPayment: second }) {
    const { merchantPaymentReference: reference, status } = payment;
    return shop.changeOrder(tx, { key, reference, order, status, current, second });
  },
  onError: (error) => tell({ error: describe(error) }),
});

async function buy(reference: string): Promise<StoredPayment> {
  await shop.placeOrder(reference);
  return isRecorded(reference) ? store.send(reference) : store.create(orderOf(reference));
}

const server = createServer(async (request, response) => {
  const [, path, reference = ''] = request.url?.split('/') ?? [];
  if (path !== 'buy') return handleCallback(request, response);
  try {
    const { state, error } = await buy(reference);
    if (error !== undefined) tell({ error: `buy: ${describe(error)}` });
    response.writeHead(state === 'rejected' || state === 'recorded' ? 402 : 200).end(state);
  } catch (error) {
    tell({ error: `buy: ${describe(error)}` });
    response.writeHead(503).end();
  }
});
server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));

/** Asks the service itself, whose list is true, but lacks what it will still act on. */
async function lookUp(reference: string) {
  const answer = await fetch(`${config.service.baseUrl}${LOOK_UP_PATH}${reference}`);
  const text = await answer.text();
  return text === '' ? undefined : JSON.parse(text);
}

store.startRecovery({
  everyMs: RECOVER_EVERY_MS,
  // One process of a shop may be older than the other.
  ...(Math.random() < 0.5 && { lookUp }),
  onError: (error) => tell({ error: `recover: ${describe(error)}` }),
});
// The run has ended, and nothing else would end this process.
process.once('disconnect', () => process.exit());
