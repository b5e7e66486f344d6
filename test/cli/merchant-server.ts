import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RetryLaterError } from '../../src/index.js';
import { callbackHandler } from '../../src/node/index.js';

export const signingSecret = 'planted signing secret é';
export const secretEnv = { MERCHANT_PAYMENTS_SIGNING_SECRET: signingSecret };

/** A merchant's endpoint, and what its code acted on. */
export interface Merchant extends AsyncDisposable {
  readonly url: string;
  /** The statuses of the payments it acted on, in turn. */
  readonly statuses: string[];
  /** How often it acted on a payment that was paid, by referenceNumber. */
  readonly effects: Map<string, number>;
}

/**
 * Serves callbacks at every path with the package's own handler, and effects at `/effects`. With `orders`, it asks
 * for a retry of a callback for any other order, as README's endpoint does.
 */
export async function startMerchant(port = 0, orders?: ReadonlySet<string>): Promise<Merchant> {
  const statuses: string[] = [];
  const effects = new Map<string, number>();
  const latest = new Map<string, string>();
  const handle = callbackHandler({
    signingSecret,
    onPayment: ({ payment }, { current }) => {
      const { status, referenceNumber, merchantPaymentReference } = payment;
      if (orders && !orders.has(merchantPaymentReference)) throw new RetryLaterError();
      statuses.push(status);
      if (current) latest.set(referenceNumber, status);
      if (status === 'paid') effects.set(referenceNumber, (effects.get(referenceNumber) ?? 0) + 1);
    },
    onError: () => undefined,
    onRejected: () => undefined,
  });
  const listener: RequestListener = (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '/', 'http://localhost');
    if (pathname !== '/effects') void handle(request, response);
    else {
      const referenceNumber = searchParams.get('referenceNumber') ?? '';
      const status = latest.get(referenceNumber);
      response.end(JSON.stringify({ effects: effects.get(referenceNumber) ?? 0, status }));
    }
  };
  const server = await serve(listener, port);
  return { ...server, statuses, effects };
}

/** Serves every request with a listener. */
export async function serve(
  listener: RequestListener,
  listenPort = 0,
): Promise<AsyncDisposable & { readonly url: string }> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(listenPort, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callbacks`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
