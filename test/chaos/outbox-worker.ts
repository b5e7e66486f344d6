import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PaymentClient } from '../../src/client/payment-client.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import {
  CALL_TIMEOUT_MS,
  type OutboxWorkerConfig,
  orderOf,
  RECOVER_EVERY_MS,
} from './outbox-config.js';
import { openStore } from './outbox-store.js';
import type { WorkerMessage } from './worker-config.js';

// A process of a shop: bundled and started by the fleet, its OutboxWorkerConfig is the first argument.

const tell = (message: WorkerMessage): void => void process.send?.(message);
const codeOf = (error: unknown): string =>
  String((error as { code?: unknown }).code ?? (error as Error).name);

const config = JSON.parse(process.argv[2] ?? '') as OutboxWorkerConfig;
const client = new PaymentClient({ ...config.service, timeoutMs: CALL_TIMEOUT_MS, maxRetries: 0 });
const { outbox, inbox } = openStore(config.outbox, config.storeUrl, client);
const handleCallback = callbackHandler<unknown>({
  signingSecret: config.signingSecret,
  inbox,
  outbox,
  onPayment: () => {},
  onError: (error) => tell({ error: codeOf(error) }),
  onSecondPayment: ({ payment }) =>
    tell({ mistake: `a second payment of ${payment.merchantPaymentReference}` }),
});

const server = createServer(async (request, response) => {
  const [, path, reference = ''] = request.url?.split('/') ?? [];
  if (path !== 'create') return handleCallback(request, response);
  try {
    const { state } = await outbox.create(orderOf(reference));
    response.end(state);
  } catch (error) {
    tell({ error: `create: ${codeOf(error)}` });
    response.writeHead(500).end(codeOf(error));
  }
});
server.listen(0, '127.0.0.1', () => tell({ port: (server.address() as AddressInfo).port }));

const recover = async (): Promise<void> => {
  await outbox.recover().catch((error) => tell({ error: `recover: ${codeOf(error)}` }));
  setTimeout(recover, RECOVER_EVERY_MS);
};
recover();
process.once('disconnect', () => process.exit());
