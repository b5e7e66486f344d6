import { Agent, createServer, request as httpRequest, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { gzipSync } from 'node:zlib';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ConnectionError, PaymentClient } from '../../../src/index.js';
import {
  type Fault,
  type FaultProxyOptions,
  type MockServer,
  type MockServerOptions,
  type ProxiedExchange,
  startFaultProxy,
  startMockServer,
} from '../../../src/mock-server/index.js';
import { isSigned, type ReceivedCallback, startEndpoint } from '../merchant-endpoint.js';

const creation = { merchantPaymentReference: 'order-1', amount: 100, currency: 'EUR' };

/** A mock as the service, a proxy in front of it, and a client of the proxy. */
async function setUp(
  options: MockServerOptions & Pick<FaultProxyOptions, 'forwardCallbacksTo'> = {},
) {
  const { forwardCallbacksTo, ...serviceOptions } = options;
  const service = await startMockServer({ retryScheduleMs: [0, 0, 0], ...serviceOptions });
  const exchanges: ProxiedExchange[] = [];
  const proxy = await startFaultProxy({
    upstream: service.url,
    forwardCallbacksTo,
    onExchange: (exchange) => exchanges.push(exchange),
  });
  service.callbackUrl = proxy.callbackUrl;
  const { apiKey, apiSecret } = service;
  const client = new PaymentClient({ baseUrl: proxy.url, apiKey, apiSecret, maxRetries: 0 });
  onTestFinished(async () => {
    await client.close();
    await proxy.close();
    await service.close();
  });
  return { service, proxy, client, exchanges };
}

async function startUpstream(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

describe('requests', () => {
  test('pass unchanged, and so do their answers', async () => {
    const { service, client, exchanges } = await setUp();
    const { payment, response } = await client.payments.create(creation);
    expect(response.status).toBe(201);
    expect(service.payments.list()).toMatchObject([{ referenceNumber: payment.referenceNumber }]);
    expect(exchanges).toEqual([
      {
        kind: 'request',
        method: 'POST',
        path: '/api/payments',
        merchantPaymentReference: 'order-1',
        status: 201,
        fault: undefined,
        failure: undefined,
        durationMs: expect.any(Number),
      },
    ]);
  });

  test('a lost answer leaves the payment created, and the client reports an unknown outcome', async () => {
    const { service, proxy, client, exchanges } = await setUp();
    proxy.faults.add({ on: 'request', type: 'lost-answer' });
    const error = await client.payments.create(creation).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ requestOutcome: 'unknown', safeToRetry: false });
    expect(service.payments.list()).toMatchObject([creation]);
    expect(exchanges).toMatchObject([{ fault: 'lost-answer', status: undefined }]);
    expect(proxy.faults.pending()).toEqual([]);
  });

  test.each<[Fault, string, number]>([
    [{ on: 'request', type: 'reset-before-headers' }, 'unknown', 0],
    [{ on: 'request', type: 'rate-limit' }, 'rejected', 0],
    [{ on: 'request', type: 'server-error', status: 503 }, 'unknown', 0],
    [{ on: 'request', type: 'client-error', status: 422 }, 'rejected', 0],
    [{ on: 'request', type: 'truncated-body' }, 'accepted', 1],
    [{ on: 'request', type: 'reset-in-body' }, 'accepted', 1],
  ])('%j ends with %s and %i payments', async (fault, requestOutcome, payments) => {
    const { service, proxy, client } = await setUp();
    proxy.faults.add(fault);
    await expect(client.payments.create(creation)).rejects.toMatchObject({ requestOutcome });
    expect(service.payments.list()).toHaveLength(payments);
  });

  test.each([
    ['delay', 0],
    ['late-answer', 1],
  ] as const)('%s waits, with %i payments at the service', async (type, payments) => {
    const { service, proxy, client } = await setUp();
    proxy.faults.add({ on: 'request', type, delayMs: 2_147_483_647 });
    const abortion = new AbortController();
    const call = client.payments.create(creation, { signal: abortion.signal });
    const settled = call.catch(({ requestOutcome }: { requestOutcome: string }) => requestOutcome);
    if (type === 'late-answer') await service.waitForRequest({ method: 'POST' });
    while (proxy.faults.pending().length > 0) await new Promise(setImmediate);
    abortion.abort();
    expect(await settled).toBe('unknown');
    expect(service.payments.list()).toHaveLength(payments);
  });

  test('pass with their path and headers, except hop-by-hop headers', async () => {
    const seen: Record<string, unknown>[] = [];
    const upstream = await startUpstream((request, response) => {
      seen.push({ ...request.headers, path: request.url });
      response.writeHead(200, { connection: 'x-drop', 'x-drop': '1', 'x-keep': '2' });
      response.end();
    });
    await using proxy = await startFaultProxy({ upstream: `${upstream}/v2/` });
    const { status, headers } = await new Promise<{
      status: number | undefined;
      headers: Record<string, unknown>;
    }>((resolve) => {
      httpRequest(`${proxy.url}//other.example/a%2Fb?c=%20`, {
        headers: { connection: 'close, x-mine', 'x-mine': '1', te: 'trailers', 'x-other': '2' },
      })
        .once('response', (response) => {
          response.resume();
          resolve({ status: response.statusCode, headers: response.headers });
        })
        .end();
    });
    expect(seen).toMatchObject([
      { path: '/v2//other.example/a%2Fb?c=%20', 'x-other': '2', host: new URL(upstream).host },
    ]);
    expect(Object.keys(seen[0] ?? {})).not.toEqual(expect.arrayContaining(['x-mine']));
    expect(seen[0]).not.toHaveProperty('te');
    expect(status).toBe(200);
    expect(headers).toMatchObject({ 'x-keep': '2' });
    expect(headers).not.toHaveProperty('x-drop');
  });

  test('are answered with the same bytes', async () => {
    const bytes = gzipSync('{"a":1}');
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(bytes);
    });
    await using proxy = await startFaultProxy({ upstream });
    expect(await (await fetch(`${proxy.url}/x`)).json()).toEqual({ a: 1 });
  });

  test.each<[string, RequestListener, string]>([
    [
      'breaks off',
      (request) => request.socket.resetAndDestroy(),
      'The connection failed with ECONNRESET',
    ],
    [
      'does not end',
      (_request, response) => {
        const write = () => void (response.destroyed || response.write('x'.repeat(65_536), write));
        write();
      },
      'The answer is over 1 MiB',
    ],
    ['is silent', () => undefined, 'There was no complete answer within 50 ms'],
    [
      'stops in the middle',
      (_request, response) => {
        response.writeHead(201, { 'content-length': 100 });
        response.write('{', () => response.destroy());
      },
      'The connection failed with ECONNRESET',
    ],
    [
      'changes the protocol',
      ({ socket }) => socket.write('HTTP/1.1 101 Go\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'),
      'The answer was 101, which is not forwarded',
    ],
  ])('an upstream that %s is answered 502', async (what, listener, message) => {
    const upstream = await startUpstream(listener);
    const timeoutMs = what === 'is silent' ? 50 : 60_000;
    await using proxy = await startFaultProxy({ upstream, timeoutMs });
    const response = await fetch(`${proxy.url}/api/payments`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(502);
    expect(await response.json()).toMatchObject({ code: 'PROXY_FAILED', message });
  });

  test('time out even after a garbage collection', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const upstream = await startUpstream((_request, response) => {
      response.writeHead(200, { 'content-length': 100 });
      response.write('x', collect);
    });
    await using proxy = await startFaultProxy({ upstream, timeoutMs: 200 });
    const response = await fetch(`${proxy.url}/api/payments`, { method: 'POST', body: '{}' });
    expect(await response.json()).toMatchObject({
      message: 'There was no complete answer within 200 ms',
    });
  });

  test('of 1 MiB pass, chunked and over one connection, with every cookie of the answers', async () => {
    const bodies: string[] = [];
    const upstream = await startUpstream(async (request, response) => {
      let body = '';
      for await (const chunk of request.setEncoding('utf8')) body += chunk;
      bodies.push(body);
      response.writeHead(200, { 'set-cookie': ['a=1', 'b=2'] }).end(body);
    });
    await using proxy = await startFaultProxy({ upstream });
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    onTestFinished(() => agent.destroy());
    const sent = ['x'.repeat(1_048_576), 'y'];
    const answers: [cookies: string[] | undefined, isReused: boolean][] = [];
    for (const body of sent) {
      await new Promise<void>((resolve) => {
        const request = httpRequest(`${proxy.url}/x`, { agent, method: 'POST' }, (response) => {
          answers.push([response.headers['set-cookie'], request.reusedSocket]);
          response.resume().once('end', resolve);
        });
        // Without a length, so it is sent in chunks.
        request.write(body.slice(0, 1));
        request.end(body.slice(1));
      });
    }
    expect(bodies).toEqual(sent);
    const cookies = ['a=1', 'b=2'];
    expect(answers).toEqual([
      [cookies, false],
      [cookies, true],
    ]);
  });

  test('smuggled into another request, or for another host, are refused', async () => {
    const seen: (string | undefined)[] = [];
    const upstream = await startUpstream((request, response) => {
      seen.push(request.url);
      response.end();
    });
    await using proxy = await startFaultProxy({ upstream });
    const head = 'host: a\r\nconnection: close\r\n';
    for (const text of [
      `POST /a HTTP/1.1\r\n${head}content-length: 4\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\nGET /b HTTP/1.1\r\n${head}\r\n`,
      `GET http://other.example/c HTTP/1.1\r\n${head}\r\n`,
      `OPTIONS * HTTP/1.1\r\n${head}\r\n`,
    ]) {
      const socket = connect(Number(new URL(proxy.url).port), '127.0.0.1');
      socket.write(text);
      expect(await readText(socket)).toMatch(/^HTTP\/1\.1 400 /);
    }
    expect(seen).toEqual([]);
  });

  test('over 1 MiB are refused', async () => {
    await using proxy = await startFaultProxy({ upstream: 'http://127.0.0.1:9' });
    const body = 'x'.repeat(1_048_577);
    expect((await fetch(`${proxy.url}/x`, { method: 'POST', body })).status).toBe(413);
  });
});

describe('callbacks', () => {
  const isVerified = (callbacks: readonly ReceivedCallback[], { signingSecret }: MockServer) =>
    callbacks.every((callback) => isSigned(callback, signingSecret));

  async function setUpPayment(reply?: Parameters<typeof startEndpoint>[0]) {
    const endpoint = await startEndpoint(reply);
    onTestFinished(() => endpoint[Symbol.asyncDispose]());
    const scene = await setUp({ forwardCallbacksTo: endpoint.url });
    const { payment } = await scene.client.payments.create(creation);
    return { ...scene, endpoint, referenceNumber: payment.referenceNumber ?? '' };
  }

  test('pass byte for byte, and so do the answers', async () => {
    const { service, endpoint, referenceNumber, exchanges } = await setUpPayment((count) =>
      count === 1 ? 503 : 200,
    );
    await service.setStatus(referenceNumber, 'paid');
    await service.waitForDelivery({ attempt: 2, acknowledged: true });
    expect(service.deliveries.map(({ response }) => response?.status)).toEqual([503, 200]);
    expect(endpoint.received.map(({ rawBody }) => rawBody.toString())).toEqual(
      service.deliveries.map(({ rawBody }) => Buffer.from(rawBody).toString()),
    );
    expect(isVerified(endpoint.received, service)).toBe(true);
    expect(exchanges.slice(1)).toMatchObject([
      { kind: 'callback', status: 503 },
      { kind: 'callback', status: 200, merchantPaymentReference: 'order-1' },
    ]);
  });

  test.each(['in-turn', 'at-once'] as const)(
    'a duplicate arrives %s, byte for byte, and verifies',
    async (mode) => {
      const { service, proxy, endpoint, referenceNumber } = await setUpPayment();
      proxy.faults.add({ on: 'callback', type: 'duplicate', mode, copies: 2 });
      await service.setStatus(referenceNumber, 'paid');
      expect(endpoint.received).toHaveLength(3);
      expect(new Set(endpoint.received.map(({ rawBody }) => rawBody.toString())).size).toBe(1);
      expect(new Set(endpoint.received.map(({ headers }) => headers['x-signature'])).size).toBe(1);
      expect(isVerified(endpoint.received, service)).toBe(true);
      expect(service.deliveries).toMatchObject([{ outcome: 'acknowledged' }]);
    },
  );

  test('a dropped one is retried by the service', async () => {
    const { service, proxy, endpoint, referenceNumber } = await setUpPayment();
    proxy.faults.add({ on: 'callback', type: 'drop', match: { status: 'paid', attempt: 1 } });
    await service.setStatus(referenceNumber, 'paid');
    await service.waitForDelivery({ attempt: 2, acknowledged: true });
    expect(service.deliveries.map(({ outcome }) => outcome)).toEqual(['failed', 'acknowledged']);
    expect(endpoint.received).toHaveLength(1);
  });

  test('a reordered one arrives after the next one of its payment', async () => {
    const { service, proxy, endpoint, referenceNumber } = await setUpPayment();
    proxy.faults.add({ on: 'callback', type: 'reorder', match: { status: 'pending' } });
    const first = service.setStatus(referenceNumber, 'pending');
    while (proxy.faults.pending().length > 0) await new Promise(setImmediate);
    await service.setStatus(referenceNumber, 'paid');
    await first;
    const statuses = endpoint.received.map(({ rawBody }) => JSON.parse(rawBody.toString()).status);
    expect(statuses).toEqual(['paid', 'pending']);
    expect(isVerified(endpoint.received, service)).toBe(true);
    expect(service.deliveries.every(({ outcome }) => outcome === 'acknowledged')).toBe(true);
  });

  test('a late one waits, and is lost if the service does not wait', async () => {
    const { service, proxy, endpoint, referenceNumber } = await setUpPayment();
    proxy.faults.add({ on: 'callback', type: 'late-callback', delayMs: 1 });
    await service.setStatus(referenceNumber, 'paid');
    expect(endpoint.received).toHaveLength(1);
    proxy.faults.add({ on: 'callback', type: 'late-callback', delayMs: 2_147_483_647 });
    const second = service.setStatus(referenceNumber, 'settled');
    while (proxy.faults.pending().length > 0) await new Promise(setImmediate);
    service.reset();
    await second;
    expect(endpoint.received).toHaveLength(1);
  });

  test('have a separate port, and none without an endpoint', async () => {
    const { proxy } = await setUp({ forwardCallbacksTo: 'http://127.0.0.1:9/hook?x=1' });
    expect(new URL(proxy.callbackUrl ?? '').port).not.toBe(new URL(proxy.url).port);
    expect(new URL(proxy.callbackUrl ?? '').pathname).toBe('/hook');
    expect((await setUp()).proxy.callbackUrl).toBeUndefined();
  });
});

describe('faults', () => {
  test('that need the signing secret are refused', async () => {
    const { proxy } = await setUp();
    for (const type of ['wrong-secret', 'stale-timestamp', 'tampered-body'] as const) {
      expect(() => proxy.faults.add({ on: 'callback', type })).toThrow(
        `fault.type ${type} needs the signing secret, which a proxy does not know: use the mock`,
      );
    }
    expect(() => proxy.faults.add({ on: 'request', type: 'no' } as never)).toThrow('fault.type');
  });

  test('are added over HTTP, but only from this machine', async () => {
    const { proxy } = await setUp();
    const add = (headers: Record<string, string> = {}, type = 'hang') =>
      fetch(`${proxy.url}/_mock/faults`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ on: 'request', type, times: 'unlimited' }),
      });
    expect((await add({ origin: 'https://other.example' })).status).toBe(403);
    expect(proxy.faults.pending()).toEqual([]);
    expect((await add({}, 'no')).status).toBe(400);
    expect((await add()).status).toBe(201);
    expect(proxy.faults.pending()).toMatchObject([{ type: 'hang', times: Infinity }]);
    const answer = await fetch(`${proxy.url}/_mock/faults/1`, { method: 'DELETE' });
    expect(await answer.json()).toEqual({ faults: [] });
    expect((await fetch(`${proxy.url}/_mock/payments`)).status).toBe(404);
  });
});

test.each<[string, object]>([
  ['upstream', {}],
  ['upstream', { upstream: 'http://sandbox.example' }],
  ['upstream', { upstream: 'https://key:secret@sandbox.example' }],
  ['forwardCallbacksTo', { forwardCallbacksTo: 'nowhere' }],
  ['callbackPort', { callbackPort: 65_536 }],
  ['timeoutMs', { timeoutMs: 0 }],
  ['onExchange', { onExchange: 5 }],
])('an invalid %s is refused: %j', async (option, options) => {
  const given =
    option === 'upstream' ? options : { upstream: 'https://sandbox.example', ...options };
  await expect(startFaultProxy(given as FaultProxyOptions)).rejects.toMatchObject({
    code: 'INVALID_OPTION',
    option,
  });
});

test('a port in use is reported, and nothing is left open', async () => {
  const { service } = await setUp();
  const port = Number(new URL(service.url).port);
  const options = { upstream: service.url, forwardCallbacksTo: 'http://127.0.0.1:9/' };
  await expect(startFaultProxy({ ...options, callbackPort: port })).rejects.toMatchObject({
    code: 'PORT_IN_USE',
  });
});

test('close ends what waits, and can be called twice', async () => {
  const { proxy, client } = await setUp();
  proxy.faults.add({ on: 'request', type: 'hang' });
  const call = client.payments.create(creation).catch((error: unknown) => error);
  while (proxy.faults.pending().length > 0) await new Promise(setImmediate);
  await proxy.close();
  await proxy.close();
  expect(await call).toBeInstanceOf(ConnectionError);
});
