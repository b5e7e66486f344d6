import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { callbackHandler } from '../../src/node/callback-handler.js';

export interface Merchant extends AsyncDisposable {
  readonly url: string;
  /** The handled statuses, in order. */
  readonly handled: readonly string[];
}

/** A merchant's endpoint, made with this package. */
export async function startMerchant(signingSecret: string): Promise<Merchant> {
  const handled: string[] = [];
  const handler = callbackHandler({
    signingSecret,
    onPayment: ({ payment }) => void handled.push(payment.status),
    onRejected: () => undefined,
    onError: () => undefined,
  });
  const endpoint = http.createServer(handler);
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve));
  const { port } = endpoint.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callbacks/payments`,
    handled,
    async [Symbol.asyncDispose]() {
      endpoint.closeAllConnections();
      await new Promise((resolve) => endpoint.close(resolve));
    },
  };
}
