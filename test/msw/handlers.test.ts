import https from 'node:https';
import { HttpResponse, http } from 'msw';
import { setupServer } from 'msw/node';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { createMockService } from '../../src/mock-server/index.js';
import { paymentServiceHandlers } from '../../src/msw/index.js';
import { basic, order, postPayment } from '../mock-server/merchant-client.js';
import { isSigned, startEndpoint } from '../mock-server/merchant-endpoint.js';
import { createObservedClock } from '../mock-server/observed-clock.js';

// Requests without a handler fail here and never reach a real address.
const unhandled: string[] = [];
const network = setupServer(
  http.all('*', ({ request }) => {
    unhandled.push(request.url);
    return HttpResponse.error();
  }),
);
beforeAll(() => network.listen({ onUnhandledRequest: 'error' }));
afterEach(() => {
  network.resetHandlers();
  unhandled.length = 0;
});
afterAll(() => network.close());

const credentials = { apiKey: 'key', apiSecret: 'secret' };
const base = 'https://pay.example';
const merchant = { url: base, ...credentials };

test('a bug of the service says so, in place of a lost connection', async () => {
  const fetch = () => Promise.reject(new TypeError('Cannot read properties of undefined'));
  const service = Object.assign(createMockService(credentials), { fetch });
  network.use(...paymentServiceHandlers({ baseUrl: base, service }));
  const answer = await postPayment(merchant);
  expect(answer.status).toBe(500);
  expect(await answer.text()).toContain('Cannot read');
});

describe('with a baseUrl', () => {
  test('payments are created through the global fetch', async () => {
    const service = createMockService(credentials);
    network.use(...paymentServiceHandlers({ baseUrl: base, service }));
    const answer = await postPayment(merchant);
    expect(answer.status).toBe(201);
    expect(await answer.json()).toMatchObject({ merchantPaymentReference: 'order-1' });
    expect(service.payments.list()).toHaveLength(1);
    expect(service.requests[0]).toMatchObject({ path: '/api/payments', json: order });
  });

  test('payments are created through node:http', async () => {
    const service = createMockService(credentials);
    network.use(...paymentServiceHandlers({ baseUrl: base, service }));
    const headers = { authorization: basic('key', 'secret'), 'content-type': 'application/json' };
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const request = https.request(`${base}/api/payments`, { method: 'POST', headers });
      request.on('response', (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      request.on('error', reject).end(JSON.stringify(order));
    });
    expect(status).toBe(201);
    expect(service.payments.list()).toHaveLength(1);
  });

  test.each([
    'https://pay.example/eu/v1',
    'https://pay.example/eu/v1/',
    'https://pay.example:8443/a(b)*:c+d',
  ])('the prefix of %s is not part of the path the service sees', async (baseUrl) => {
    const service = createMockService();
    network.use(...paymentServiceHandlers({ baseUrl, service }));
    const url = baseUrl.replace(/\/$/, '');
    expect((await postPayment({ ...merchant, url })).status).toBe(201);
    expect(service.requests[0]?.path).toBe('/api/payments');
  });

  test('every path below it is answered, and no other', async () => {
    const service = createMockService();
    network.use(...paymentServiceHandlers({ baseUrl: `${base}/v1`, service }));
    const headers = { authorization: basic('key', 'secret') };
    const answer = await fetch(`${base}/v1/somewhere?x=1`, { headers });
    expect(answer.status).toBe(404);
    expect(service.requests[0]?.path).toBe('/somewhere?x=1');
    await expect(fetch(`${base}/v10/api/payments`, { headers })).rejects.toThrow();
    await expect(fetch('https://pay-example/v1/x', { headers })).rejects.toThrow();
    expect(service.requests).toHaveLength(1);
    expect(unhandled).toEqual([`${base}/v10/api/payments`, 'https://pay-example/v1/x']);
  });

  test('a service is created with the given options', async () => {
    network.use(...paymentServiceHandlers({ baseUrl: base, ...credentials, initialStatus: 'new' }));
    const created = await postPayment(merchant);
    expect(await created.json()).toMatchObject({ status: 'new' });
    const refused = await postPayment({ ...merchant, apiSecret: 'wrong' });
    expect(refused.status).toBe(401);
    expect(await refused.json()).toMatchObject({ code: 'INVALID_CREDENTIALS' });
  });
});

describe('without a baseUrl', () => {
  test('payments are created at every address, and no other path is answered', async () => {
    const service = createMockService();
    network.use(...paymentServiceHandlers({ service }));
    for (const url of ['https://one.example', 'http://localhost:9999/deep/prefix']) {
      expect((await postPayment({ ...merchant, url })).status).toBe(201);
    }
    expect(service.requests.map(({ path }) => path)).toEqual(['/api/payments', '/api/payments']);
    await expect(fetch('https://one.example/other')).rejects.toThrow();
    expect(unhandled).toEqual(['https://one.example/other']);
  });
});

describe('faults of the network', () => {
  test.each(['reset-before-headers', 'lost-answer'] as const)(
    '%s fails the fetch',
    async (type) => {
      const service = createMockService();
      network.use(...paymentServiceHandlers({ baseUrl: base, service }));
      service.faults.add({ on: 'request', type });
      await expect(postPayment(merchant)).rejects.toThrow(TypeError);
      expect(service.payments.list()).toHaveLength(type === 'lost-answer' ? 1 : 0);
    },
  );

  test.each(['truncated-body', 'reset-in-body'] as const)(
    '%s fails reading the body',
    async (type) => {
      const service = createMockService();
      network.use(...paymentServiceHandlers({ baseUrl: base, service }));
      service.faults.add({ on: 'request', type });
      const answer = await postPayment(merchant);
      expect(answer.status).toBe(201);
      await expect(answer.text()).rejects.toThrow();
    },
  );

  test('the service drops a request that the caller cancels', async () => {
    const { clock, cancelled } = createObservedClock();
    const service = createMockService({ clock });
    network.use(...paymentServiceHandlers({ baseUrl: base, service }));
    service.faults.add({ on: 'request', type: 'delay', delayMs: 1_000 });
    const left = new AbortController();
    const answer = expect(postPayment(merchant, order, { signal: left.signal })).rejects.toThrow();
    await service.waitForRequest({});
    left.abort();
    await answer;
    await cancelled;
    await clock.advance(1_000);
    expect(service.payments.list()).toEqual([]);
  });
});

test('callbacks reach the endpoint, although msw refuses everything else', async () => {
  await using endpoint = await startEndpoint();
  await using service = createMockService();
  network.use(...paymentServiceHandlers({ baseUrl: base, service }));
  service.callbackUrl = endpoint.url;
  await postPayment(merchant);
  const [payment] = service.payments.list();
  const delivery = await service.setStatus(payment?.referenceNumber ?? '', 'paid');
  expect(delivery.state).toBe('acknowledged');
  const [callback] = endpoint.received;
  expect(callback && isSigned(callback, service.signingSecret)).toBe(true);
});

test('resetHandlers of msw keeps payments and faults, which the service’s reset forgets', async () => {
  const service = createMockService();
  const handlers = paymentServiceHandlers({ baseUrl: base, service });
  network.use(...handlers);
  await postPayment(merchant);
  service.faults.add({ on: 'request', type: 'hang' });
  network.resetHandlers(...handlers);
  expect(service.payments.list()).toHaveLength(1);
  expect(service.faults.pending()).toHaveLength(1);
  service.reset();
  expect(service.payments.list()).toEqual([]);
  expect(service.faults.pending()).toEqual([]);
  expect((await postPayment(merchant)).status).toBe(201);
});

describe('an invalid option is refused', () => {
  test.each<[string, object]>([
    ['options', null as never],
    ['baseUrl', { baseUrl: 'pay.example' }],
    ['baseUrl', { baseUrl: 'https://pay.example/?x=1' }],
    ['baseUrl', { baseUrl: 'https://user:pw@pay.example/' }],
    ['service', { service: {} }],
    ['seed', { service: createMockService(), seed: 5 }],
    ['baseURL', { baseURL: 'https://pay.example' }],
    ['apiKey', { apiKey: 'a:b' }],
  ])('%s', (option, options) => {
    expect(() => paymentServiceHandlers(options)).toThrowError(
      expect.objectContaining({ code: 'INVALID_OPTION', option }),
    );
  });

  test('but not an undefined one beside a service', () => {
    const service = createMockService();
    expect(paymentServiceHandlers({ service, seed: undefined })).toHaveLength(1);
  });
});
