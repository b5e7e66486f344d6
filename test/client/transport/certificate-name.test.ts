import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import tls from 'node:tls';
import { expect, it, onTestFinished, vi } from 'vitest';
import { corporateCa, corporateIdentity } from '../corporate-ca.js';
import { createClient, failureOf, noRetries, order, record, withoutJitter } from '../raw-server.js';
import * as publicIdentity from '../tls-identity.js';
import { startProxy } from './connect-proxy.js';

/** Trusts both identities, as NODE_EXTRA_CA_CERTS does, which Node reads only when a process starts. */
function trustIdentities(): void {
  const create = tls.createSecureContext;
  vi.spyOn(tls, 'createSecureContext').mockImplementation((options) =>
    create({ ...options, ca: [corporateCa, publicIdentity.cert] }),
  );
}

/** A service at 127.0.0.1 whose certificate is only for localhost, until it is renewed. */
async function startMisnamedService() {
  trustIdentities();
  let requests = 0;
  const server = createServer(corporateIdentity, (request, response) => {
    requests += 1;
    request.resume();
    response.writeHead(201, { 'content-type': 'application/json' }).end(JSON.stringify(record));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    requests: () => requests,
    renewCertificate: () => server.setSecureContext(publicIdentity),
  };
}

function useProxy(url: string): void {
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'NO_PROXY']) {
    vi.stubEnv(name, undefined);
  }
  vi.stubEnv('NODE_USE_ENV_PROXY', '1');
  vi.stubEnv('HTTP_PROXY', url);
  vi.stubEnv('HTTPS_PROXY', url);
}

const misnamed = {
  code: 'CONNECTION_FAILED',
  requestOutcome: 'not-sent',
  safeToRetry: true,
  message: expect.stringMatching(
    /got no connection \(ERR_TLS_CERT_ALTNAME_INVALID\), since .*127\.0\.0\.1 is not in the cert's list/,
  ),
};

it('a certificate for another name is told at once, and such calls leave every connection usable', async () => {
  withoutJitter();
  const service = await startMisnamedService();
  const client = createClient(service.url);
  expect(await failureOf(client.payments.create(order))).toMatchObject(misnamed);
  const calls = Array.from({ length: 20 }, () =>
    failureOf(client.payments.create(order, noRetries)),
  );
  for (const failure of await Promise.all(calls)) expect(failure).toMatchObject(misnamed);
  expect(service.requests()).toBe(0);
  service.renewCertificate();
  const answers = Array.from({ length: 20 }, () => client.payments.create(order, noRetries));
  expect(await Promise.all(answers)).toHaveLength(20);
});

it('through a proxy it is told as well, and the client lives on', async () => {
  withoutJitter();
  const service = await startMisnamedService();
  useProxy((await startProxy()).url);
  const client = createClient(service.url);
  for (let call = 0; call < 3; call += 1) {
    expect(await failureOf(client.payments.create(order))).toMatchObject(misnamed);
  }
  service.renewCertificate();
  expect((await client.payments.create(order)).response.status).toBe(201);
});

it('a proxy whose own certificate is for another name is told, and keeps no request', async () => {
  withoutJitter();
  trustIdentities();
  const proxy = await startProxy({ identity: corporateIdentity });
  useProxy(proxy.url.replace('http:', 'https:').replace('localhost', '127.0.0.1'));
  const client = createClient('https://service.invalid');
  for (let call = 0; call < 3; call += 1) {
    expect(await failureOf(client.payments.create(order))).toMatchObject(misnamed);
  }
  expect(proxy.seen).toEqual([]);
});
