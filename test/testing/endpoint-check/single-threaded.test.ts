import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createServer as createTcpServer, type Socket } from 'node:net';
import { afterAll, expect, it, vi } from 'vitest';
import { checkCallbackEndpoint } from '../../../src/testing/endpoint-check/check-callback-endpoint.js';
import { SECRET, Shop } from './shop.js';

// Nothing signs it, and it is for 127.0.0.1 alone.
// openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 36500 -subj /CN=127.0.0.1
const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBfzCCASWgAwIBAgIUQH6kS+TIRkwTGNX3rK4zxRuC1mkwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJMTI3LjAuMC4xMCAXDTI2MTEyMTEzNDMwNFoYDzIxMjYxMDI4
MTM0MzA0WjAUMRIwEAYDVQQDDAkxMjcuMC4wLjEwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAAQkPooFr2Eo/V/PzYVuRa/ouwjINhUZHEx1T7cwZYqOQi2tbytb+AO5
AGB6h3NxKYYxpgzWinXYsp29cTI1m8YUo1MwUTAdBgNVHQ4EFgQU79xC79XsWq9Z
l5UtiTp9O1P62qcwHwYDVR0jBBgwFoAU79xC79XsWq9Zl5UtiTp9O1P62qcwDwYD
VR0TAQH/BAUwAwEB/zAKBggqhkjOPQQDAgNIADBFAiEAvAocyVg5Dwu2da9ZJg60
gb/2910AKj4V3tVe0OZJBvcCIBRtwGTfvWTbncuLIcFvNsOMvAz3s1NTpPrHj/ce
YUpK
-----END CERTIFICATE-----`;
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgsNnM3QrNLinrFxnT
nx9ZWhx8GhtYg5AttMvZ3O1TxIChRANCAAQkPooFr2Eo/V/PzYVuRa/ouwjINhUZ
HEx1T7cwZYqOQi2tbytb+AO5AGB6h3NxKYYxpgzWinXYsp29cTI1m8YU
-----END PRIVATE KEY-----`;

/** Takes the next connection when the one before is closed, as a server of one thread does. */
async function listenOneByOne(shop: Shop): Promise<string> {
  const server = createServer({ cert: CERTIFICATE, key: KEY }, shop.listener);
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
