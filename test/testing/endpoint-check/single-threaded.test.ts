import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, expect, it, vi } from 'vitest';
import { checkCallbackEndpoint } from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import { cert, key } from '../../client/tls-identity.js';
import { SECRET, Shop } from './shop.js';

/** Takes the next connection when the one before is closed, as a server of one thread does. */
async function listenOneByOne(shop: Shop): Promise<string> {
  const server = createServer({ cert, key }, shop.listener);
  const waiting: Socket[] = [];
  let current: Socket | undefined;
  const takeNext = () => {
    current = waiting.shift();
    if (current === undefined) return;
    current.once('close', takeNext);
    server.emit('connection', current);
  };
  const front = createTcpServer((socket) => {
    waiting.push(socket);
    if (current === undefined) takeNext();
  }).listen(0, '127.0.0.1');
  await once(front, 'listening');
  afterAll(() => {
    front.close();
  });
  return `https://127.0.0.1:${(front.address() as AddressInfo).port}/callbacks`;
}

it('finds nothing wrong with a single-threaded endpoint over TLS', async () => {
  vi.stubEnv('NODE_TLS_REJECT_UNAUTHORIZED', '0');
  const shop = new Shop();
  const report = await checkCallbackEndpoint(await listenOneByOne(shop), {
    signingSecret: SECRET,
    countEffects: (payment) => shop.orders.countOf(payment),
  });
  expect(report.checks.filter(({ outcome }) => outcome === 'failed')).toEqual([]);
});
