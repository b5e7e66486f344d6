import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { type MockServer, startMockServer } from '../../src/mock-server/index.js';
import { startEndpoint } from '../mock-server/merchant-endpoint.js';
import type { Deliberate } from './deliberate.js';
import {
  apiKey,
  apiSecret,
  authorization,
  customer,
  mockApiKey,
  mockApiSecret,
  mockSigningSecret,
} from './planted.js';
import { leaksIn } from './watch.js';

// As the sources list them, so that a new one can't be forgotten here.
const source = readdirSync('src/mock-server/control')
  .map((file) => readFileSync(`src/mock-server/control/${file}`, 'utf8'))
  .join('');
const routes = Array.from(
  source.matchAll(/^ {4,6}\['([A-Z]+)', '([^']*)', /gm),
  ([, method = '', path = '']) => `${method} ${path}`,
);

/** What a route shows on purpose: the payments of the tests, which went in by it. */
const records: Deliberate = "the mock's records";

interface Page {
  readonly route: string;
  readonly path: string;
  readonly body?: unknown;
}

/** Every route as it should be called, and as it should not. */
function pages(id: string, deliveryId: string): Page[] {
  return [
    { route: 'GET /', path: '/' },
    { route: 'GET /state', path: '/state' },
    {
      route: 'PATCH /settings',
      path: '/settings',
      body: { callbackUrl: `http://a:${mockApiSecret}@b` },
    },
    { route: 'POST /faults', path: '/faults', body: `{"a":${customer}` },
    { route: 'GET /payments/:id', path: `/payments/${id}` },
    { route: 'GET /payments/:id', path: '/payments/none' },
    {
      route: 'POST /payments/:id/status',
      path: `/payments/${id}/status`,
      body: { status: 'paid' },
    },
    {
      route: 'POST /payments/:id/status',
      path: `/payments/${id}/status`,
      body: { status: [customer] },
    },
    {
      route: 'POST /deliveries/:id/resend',
      path: `/deliveries/${id}/resend`,
      body: { fault: customer },
    },
    { route: 'POST /deliveries/:id/resend', path: `/deliveries/${deliveryId}/resend`, body: {} },
    { route: 'POST /faults', path: '/faults', body: { on: 'callback', type: 'wrong-secret' } },
    { route: 'POST /faults', path: '/faults', body: { on: customer, type: mockApiSecret } },
    { route: 'DELETE /faults/:id', path: '/faults/1' },
    { route: 'DELETE /faults', path: '/faults' },
    { route: 'POST /clock/advance', path: '/clock/advance', body: { ms: 5_000 } },
    { route: 'POST /clock/advance', path: '/clock/advance', body: { ms: customer } },
    { route: 'POST /reset', path: '/reset', body: {} },
  ];
}

async function callApi(
  { url }: Pick<MockServer, 'url'>,
  header: string,
): Promise<[number, string]> {
  const response = await fetch(`${url}/api/payments`, {
    method: 'POST',
    headers: { authorization: header, 'content-type': 'application/json' },
    body: JSON.stringify({ merchantPaymentReference: customer, amount: 5, currency: 'EUR' }),
  });
  return [response.status, await response.text()];
}

test('every page, event and answer of the mock holds no secret', async () => {
  const leaks: string[] = [];
  const look = (what: string, value: unknown, exception?: Deliberate) => {
    for (const leak of leaksIn(value, exception)) leaks.push(`${what} shows ${leak}`);
  };
  await using endpoint = await startEndpoint((count) => (count % 2 === 0 ? 200 : 500));
  await using server = await startMockServer({
    apiKey: mockApiKey,
    apiSecret: mockApiSecret,
    signingSecret: mockSigningSecret,
    callbackUrl: endpoint.url,
  });

  const leave = new AbortController();
  const stream = await fetch(`${server.url}/_mock/events`, { signal: leave.signal });
  let told = '';
  const listening = (async () => {
    const decoder = new TextDecoder();
    for await (const part of stream.body ?? []) told += decoder.decode(part, { stream: true });
  })().catch(() => undefined);

  // The merchant's real credentials went to the mock by mistake; the mock's own did not.
  const own = `Basic ${Buffer.from(`${mockApiKey}:${mockApiSecret}`).toString('base64')}`;
  for (const header of [authorization, `Bearer ${apiSecret}`, apiKey]) {
    look('the refusal', await callApi(server, header));
  }
  look('the answer', await callApi(server, own), records);
  const open = await callApi({ url: `${server.url}/_mock` }, authorization);
  look('the answer without credentials', open, records);
  const [payment] = server.payments.list();
  const id = payment?.referenceNumber ?? '';
  const { id: deliveryId } = await server.setStatus(id, 'authorized');

  const visited = new Set(['GET /events']);
  for (const { route, path, body } of pages(id, deliveryId)) {
    visited.add(route);
    const response = await fetch(`${server.url}/_mock${path}`, {
      method: route.split(' ')[0] ?? '',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', authorization },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    look(`the headers of ${route}`, [...response.headers]);
    const text = await response.text();
    look(`the ${response.status} of ${route}`, text, response.ok ? records : undefined);
  }
  expect(routes.length).toBeGreaterThan(10);
  expect([...visited].sort()).toEqual(routes.sort());

  for (const { headers, rawBody } of endpoint.received) {
    look('the headers of a callback', headers);
    look('the body of a callback', rawBody.toString(), records);
  }
  expect(endpoint.received.length).toBeGreaterThan(1);

  await server.close();
  await listening;
  leave.abort();
  for (const type of ['payment', 'request', 'attempt', 'delivery', 'faults', 'settings', 'reset']) {
    expect(told).toContain(`event: ${type}\n`);
  }
  look('the stream of events', told, records);
  expect(leaks).toEqual([]);
});
