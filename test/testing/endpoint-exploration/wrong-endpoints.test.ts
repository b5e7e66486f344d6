import http, { type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, vi } from 'vitest';
import type { CheckedPayment } from '../../../src/testing/endpoint-check/options.js';
import { exploreCallbackEndpoint } from '../../../src/testing/endpoint-exploration/explore-callback-endpoint.js';
import { SECRET } from '../endpoint-check/shop.js';
import { wrongEndpoints } from './wrong-endpoints.js';

// A guard against hanging: a busy machine takes many times the few seconds of a run.
vi.setConfig({ testTimeout: 240_000 });

/** Listens on loopback; `restart` closes the port and opens it again. */
async function serve(listener: RequestListener, forget: () => void) {
  let server = http.createServer(listener);
  const open = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  await open(0);
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/callbacks`,
    async restart() {
      await close();
      forget();
      server = http.createServer(listener);
      await open(port);
    },
    [Symbol.asyncDispose]: close,
  };
}

describe.concurrent('finds the shortest script for an endpoint that', () => {
  it.each(wrongEndpoints)('$flaw', async ({ create, seed, invariant, script }) => {
    const shop = create();
    await using server = await serve(shop.listener, () => shop.forget());
    const options = {
      signingSecret: SECRET,
      effectsWithinMs: 100,
      countEffects: (payment: CheckedPayment) => ({
        effects: shop.orders.countOf(payment),
        status: shop.orders.statusOf(payment),
      }),
      restart: server.restart,
    };
    const report = await exploreCallbackEndpoint(server.url, { ...options, seed });
    expect(report.failure).toMatchObject({ invariant, script, shrunk: { ended: 'complete' } });
    const again = await exploreCallbackEndpoint(server.url, {
      ...options,
      script: JSON.parse(JSON.stringify(report.failure?.script)),
    });
    expect(again.failure).toMatchObject({ invariant, script });
    expect(again.failure).not.toHaveProperty('shrunk');
  });
});
