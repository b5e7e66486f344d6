import { describe, expect, test } from 'vitest';
import { findIntrusion } from '../../../src/mock-server/control/request-guard.js';
import { type MockServer, startMockServer } from '../../../src/mock-server/index.js';
import { rawRequest } from './control-client.js';

const loopback = { host: '127.0.0.1', address: '127.0.0.1' };
const everywhere = { host: '0.0.0.0', address: '0.0.0.0' };

const visit = (headers: Record<string, string>, listens = loopback, path = '/_mock/state') =>
  findIntrusion({ method: 'GET', path, headers }, listens);

describe('the Host header', () => {
  test.each([
    '127.0.0.1',
    '127.8.9.1:80',
    'LOCALHOST:4242',
    '[::1]:4242',
    '[::ffff:127.0.0.1]:4242',
  ])('%s names this machine', (host) => {
    expect(visit({ host })).toBeUndefined();
  });

  test.each([
    'evil.example',
    '127.0.0.1.nip.io',
    '[::ffff:10.0.0.1]:4242',
    '192.168.1.5:4242',
    'localhost@evil.example',
  ])('"%s" does not, when the service listens on loopback', (host) => {
    expect(visit({ host })).toContain('The Host header must name this machine');
  });

  test.each(['127.0.0.1', '::1', '::ffff:127.0.0.1'])(
    'may not be another address when the service listens on %s',
    (address) => {
      const listens = { host: 'localhost', address };
      expect(visit({ host: '127.0.0.1:4242' }, listens)).toBeUndefined();
      expect(visit({ host: '192.168.1.5:4242' }, listens)).toContain('Host');
    },
  );

  test('is refused when it is missing', () => {
    expect(visit({})).toContain('Host');
  });

  test('may be any address, but no name, when the service listens beyond loopback', () => {
    for (const host of ['192.168.1.5:4242', '[fe80::1]:4242', '10.0.0.1', 'localhost:4242']) {
      expect(visit({ host }, everywhere)).toBeUndefined();
    }
    expect(visit({ host: 'evil.example:4242' }, everywhere)).toContain('its address');
  });

  test('may be the name that the service was configured to listen on', () => {
    const listens = { host: 'Mock.internal', address: '10.0.0.7' };
    expect(visit({ host: 'mock.internal:4242' }, listens)).toBeUndefined();
    expect(visit({ host: 'other.internal:4242' }, listens)).toContain('Host');
  });

  test('may not be any address when the service listens on a name of this machine', () => {
    for (const host of ['LOCALHOST', '0:0:0:0:0:0:0:1']) {
      expect(visit({ host: '192.168.1.5' }, { host, address: '::1' })).toContain('Host');
    }
  });
});

describe('the page that sent the request', () => {
  const host = '127.0.0.1:4242';

  test.each([
    'http://evil.example',
    'http://127.0.0.1:4243',
    'http://localhost:4242',
    'https://127.0.0.1:4242',
    'null',
  ])('must not be of the origin %s', (origin) => {
    expect(visit({ host, origin })).toContain('Origin');
  });

  test('may be the dashboard', () => {
    const origin = `http://${host}`;
    expect(visit({ host, origin, 'sec-fetch-site': 'same-origin' })).toBeUndefined();
  });

  test.each(['cross-site', 'same-site', 'nonsense'])('must not be %s', (site) => {
    expect(visit({ host, 'sec-fetch-site': site })).toContain('another site');
  });

  test('may be none, as for an address that was typed', () => {
    expect(visit({ host, 'sec-fetch-site': 'none' })).toBeUndefined();
  });

  test('may link to the dashboard, and to nothing else', () => {
    const headers = { host, 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' };
    expect(visit(headers, loopback, '/_mock/')).toBeUndefined();
    expect(visit(headers, loopback, '/_mock')).toBeUndefined();
    expect(visit(headers, loopback, '/_mock/state')).toContain('another site');
    expect(visit({ ...headers, 'sec-fetch-mode': 'no-cors' }, loopback, '/_mock/')).toContain(
      'another site',
    );
  });
});

describe('over HTTP', () => {
  test.each([
    ['a page of another site', { origin: 'http://evil.example' }],
    ['a name that was made to point here', { host: 'evil.example' }],
    ['an image or script of another site', { 'sec-fetch-site': 'cross-site' }],
  ])('%s is refused everywhere, and nothing happens', async (_who, headers) => {
    await using server = await startMockServer();
    server.faults.add({ on: 'callback', type: 'drop' });
    for (const [method, path] of [
      ['GET', '/_mock/state'],
      ['GET', '/_mock/events'],
      ['DELETE', '/_mock/faults'],
      ['GET', '/_mock/unknown'],
    ] as const) {
      const answer = await rawRequest(server, method, path, headers);
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'FORBIDDEN' });
    }
    expect(server.faults.pending()).toHaveLength(1);
  });

  test('a preflight of another site is refused', async () => {
    await using server = await startMockServer();
    const answer = await rawRequest(server, 'OPTIONS', '/_mock/faults', {
      origin: 'http://evil.example',
      'access-control-request-method': 'DELETE',
    });
    expect(answer.status).toBe(403);
    expect(answer.headers['access-control-allow-origin']).toBeUndefined();
  });

  const creation = { merchantPaymentReference: 'order-1', amount: 1, currency: 'EUR' };
  const credentials = ({ apiKey, apiSecret }: MockServer) =>
    `Basic ${btoa(`${apiKey}:${apiSecret}`)}`;

  const rebound = { host: 'evil.example' };
  test.each<[string, (own: string) => Record<string, string>]>([
    [
      'a page whose name was made to point here',
      () => ({ ...rebound, origin: 'http://evil.example' }),
    ],
    [
      'that page, in a request that a tool marked',
      () => ({ ...rebound, 'sec-fetch-site': 'same-origin' }),
    ],
    [
      'that page, in a request with a destination only',
      () => ({ ...rebound, 'sec-fetch-dest': 'empty' }),
    ],
    ['that page, when it is opened', () => ({ ...rebound, 'sec-fetch-mode': 'navigate' })],
    ['a page of another port', () => ({ origin: 'http://127.0.0.1:1' })],
    [
      'a form of another site',
      () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }),
    ],
  ])('%s creates no payment, though it knows the credentials', async (_who, headers) => {
    await using server = await startMockServer();
    for (const path of ['/api/payments', '/_mock/api/payments']) {
      const answer = await rawRequest(
        server,
        'POST',
        path,
        {
          ...headers(new URL(server.url).host),
          authorization: credentials(server),
          'content-type': 'application/json',
        },
        JSON.stringify(creation),
      );
      expect(answer.status).toBe(403);
      expect(JSON.parse(answer.text)).toMatchObject({ code: 'FORBIDDEN' });
      expect(answer.headers['access-control-allow-origin']).toBeUndefined();
    }
    expect(server.payments.list()).toEqual([]);
  });

  test.each([
    ['a client, by whatever name it reaches the service', { host: 'payments.test' }],
    ['Node’s fetch, which sends a mode', { host: 'payments.test', 'sec-fetch-mode': 'cors' }],
    ['a page of the mock’s own', { 'sec-fetch-site': 'same-origin', 'sec-fetch-mode': 'cors' }],
  ])('%s may use the API', async (_who, headers) => {
    await using server = await startMockServer();
    const answer = await rawRequest(
      server,
      'POST',
      '/api/payments',
      { ...headers, authorization: credentials(server), 'content-type': 'application/json' },
      JSON.stringify(creation),
    );
    expect(answer.status).toBe(201);
  });

  test('a link on another site may open the mock’s address, which leads to the dashboard', async () => {
    await using server = await startMockServer();
    const answer = await rawRequest(server, 'GET', '/', {
      accept: 'text/html',
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
    });
    expect(answer.headers.location).toBe('/_mock/');
  });
});
