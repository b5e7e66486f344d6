import { execFile } from 'node:child_process';
import http from 'node:http';
import { connect } from 'node:net';
import path from 'node:path';
import { inspect, promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import {
  createManualClock,
  createMockService,
  type MockServer,
  startMockServer,
} from '../../src/mock-server/index.js';
import { basic, createPayment, creation, exchange, order, postPayment } from './merchant-client.js';
import { startEndpoint } from './merchant-endpoint.js';

describe('over HTTP', () => {
  test('one connection carries several requests, also after a 413 and a body on a GET', async () => {
    await using server = await startMockServer();
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const sockets = new Set<unknown>();
    const send = (method: string, body: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = {
          authorization: basic(server.apiKey, server.apiSecret),
          'content-type': 'application/json',
          'content-length': String(Buffer.byteLength(body)),
        };
        const url = `${server.url}/api/payments`;
        const request = http.request(url, { method, agent, headers }, (response) => {
          response.resume().on('end', () => resolve(response.statusCode));
        });
        request.on('socket', (socket) => sockets.add(socket)).on('error', reject);
        request.end(body);
      });
    expect(await send('POST', 'x'.repeat(4_000_000))).toBe(413);
    expect(await send('GET', 'a body')).toBe(405);
    expect(await send('HEAD', '')).toBe(405);
    expect(await send('POST', JSON.stringify(order))).toBe(201);
    expect(sockets.size).toBe(1);
    agent.destroy();
  });

  test.each([
    ['/favicon.ico', '*/*', 404],
    ['/', 'text/html', 308],
    ['/_mock', 'text/html', 308],
    ['/api/payments', 'text/html', 404],
    ['/_mock/state', 'application/json', 200],
  ])(
    'what a browser asks for by itself or for a person is no request: %s',
    async (path, accept, status) => {
      await using server = await startMockServer();
      server.faults.add({ on: 'request', type: 'unauthorized' });
      const answer = await fetch(server.url + path, { headers: { accept }, redirect: 'manual' });
      expect(answer.status).toBe(status);
      expect(server.requests).toEqual([]);
      expect(server.faults.pending()).toHaveLength(1);
    },
  );

  test('a kept connection is not closed by the server, under a request that is on its way', async () => {
    await using server = await startMockServer();
    const answer = await postPayment(server);
    // Node would announce when it closes the connection.
    expect(answer.headers.get('connection')).toBe('keep-alive');
    expect(answer.headers.get('keep-alive')).toBeNull();
  });

  test('a client that leaves within its body creates nothing', async () => {
    await using server = await startMockServer();
    const request = http.request(`${server.url}/api/payments`, { method: 'POST' });
    request.on('error', () => undefined);
    request.setHeader('content-length', '100');
    request.write('{"amount":');
    await new Promise((resolve) => request.once('socket', (s) => s.once('connect', resolve)));
    request.destroy();
    expect((await postPayment(server)).status).toBe(201);
    expect(server.payments.list()).toHaveLength(1);
  });

  test.each([
    ['a target with credentials', 'POST http://key:secret@mock.test/api/payments HTTP/1.1'],
    ['a target that is no URL', 'POST http://[ HTTP/1.1'],
  ])('%s gets 400', async (_, line) => {
    await using server = await startMockServer();
    const { text } = await exchange(server.url, `${line}\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(text).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe('listening', () => {
  test('on a port that was chosen, and not on one that is taken', async () => {
    await using server = await startMockServer();
    const port = Number(new URL(server.url).port);
    await expect(startMockServer({ port })).rejects.toMatchObject({
      name: 'MockServerError',
      code: 'PORT_IN_USE',
      message: `Port ${port} of 127.0.0.1 is in use: stop what listens there, or choose another port`,
      cause: { code: 'EADDRINUSE' },
    });
    await server.close();
    await using again = await startMockServer({ port });
    expect(again.url).toBe(server.url);
  });

  test('on all addresses gives a url that can be connected to', async () => {
    await using server = await startMockServer({ host: '0.0.0.0' });
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect((await postPayment(server)).status).toBe(201);
  });

  test('on an IPv6 address puts it in brackets', async () => {
    await using server = await startMockServer({ host: '::1' });
    expect(server.url).toMatch(/^http:\/\/\[::1\]:\d+$/);
    expect((await postPayment(server)).status).toBe(201);
  });
});

describe('a seed', () => {
  const run = async (seed: number) => {
    const service = createMockService({ seed, apiKey: 'key', apiSecret: 'secret' });
    const ids: (string | undefined)[] = [service.signingSecret];
    for (let count = 0; count < 3; count += 1) {
      await service.fetch(creation());
      ids.push(service.payments.list()[count]?.referenceNumber);
      ids.push(service.payments.list()[count]?.providerReference);
      ids.push(service.requests[count]?.requestId);
    }
    return ids;
  };

  test('gives the same identifiers in every version of the package', async () => {
    // printf '7.referenceNumber.0' | openssl dgst -sha256: its start, with the version and variant of a UUID; then .1 and .2
    const ids = await run(7);
    expect([ids[1], ids[4], ids[7]]).toEqual([
      '686f7ee1-755e-4a8d-8647-8467e8ab2d9c',
      'fb6a55a8-3a83-4d6b-8122-24fc56f35b21',
      '6456a50e-d99e-454b-8b1f-401f02afdda9',
    ]);
  });

  test('is random by default, and can be read and used again', async () => {
    await using first = await startMockServer();
    await using second = await startMockServer();
    await using replay = await startMockServer({ seed: first.seed });
    expect(second.seed).not.toBe(first.seed);
    expect(await createPayment(replay)).toBe(await createPayment(first));
  });

  test('does not give the credentials away when it is random', async () => {
    await using first = await startMockServer();
    await using replay = await startMockServer({ seed: first.seed });
    const secretsOf = ({ apiKey, apiSecret, signingSecret }: MockServer) => [
      apiKey,
      apiSecret,
      signingSecret,
    ];
    const all = [...secretsOf(first), ...secretsOf(replay)];
    expect(new Set(all).size).toBe(6);
  });

  test('that was given gives the same credentials again', async () => {
    await using first = await startMockServer({ seed: 7 });
    await using second = await startMockServer({ seed: 7 });
    expect(second.apiKey).toBe(first.apiKey);
    expect(second.apiSecret).toBe(first.apiSecret);
    expect(second.signingSecret).toBe(first.signingSecret);
    expect(new Set([first.apiKey, first.apiSecret, first.signingSecret]).size).toBe(3);
  });
});

describe('secrets', () => {
  test('can be read, and are not shown by printing the server', async () => {
    const secrets = {
      apiKey: 'planted-key',
      apiSecret: 'planted-api',
      signingSecret: 'planted-sign',
    };
    await using endpoint = await startEndpoint();
    await using server = await startMockServer({ ...secrets, callbackUrl: endpoint.url });
    await server.setStatus(await createPayment(server), 'paid');
    expect(server).toMatchObject(secrets);
    expect(inspect(server)).toBe(`MockServer { url: '${server.url}' }`);
    expect(inspect(server, { showHidden: true, depth: null })).toBe(inspect(server));
    expect(JSON.stringify(server)).toBe(JSON.stringify({ url: server.url }));
    const parts = [server, server.payments, server.faults, server.requests, server.deliveries];
    const shown = parts
      .map((part) => inspect(part, { showHidden: true, depth: null, customInspect: false }))
      .join();
    expect(shown).not.toContain('planted');
    expect(shown).not.toContain(basic(secrets.apiKey, secrets.apiSecret));
  });
});

describe('reset()', () => {
  test('makes the server as if just started', async () => {
    await using endpoint = await startEndpoint(() => 500);
    const clock = createManualClock();
    await using server = await startMockServer({ clock, callbackUrl: endpoint.url, seed: 1 });
    const before = await createPayment(server);
    const delivery = await server.setStatus(before, 'paid');
    server.faults.add({ on: 'request', type: 'hang' });
    server.reset();
    expect(server.payments.list()).toEqual([]);
    expect(server.requests).toEqual([]);
    expect(server.deliveries).toEqual([]);
    expect(server.faults.pending()).toEqual([]);
    expect(delivery.state).toBe('cancelled');
    await clock.advance(86_400_000);
    expect(endpoint.received).toHaveLength(1);
    expect(await createPayment(server)).toBe(before);
  });

  test('gives no identifier again unless a seed was given', async () => {
    await using server = await startMockServer();
    const before = await createPayment(server);
    server.reset();
    expect(await createPayment(server)).not.toBe(before);
  });

  test('keeps what was held from being released by a change before it', async () => {
    await using endpoint = await startEndpoint((count) => (count === 1 ? 200 : undefined));
    await using server = await startMockServer({ callbackUrl: endpoint.url });
    const referenceNumber = await createPayment(server);
    server.faults.add({ on: 'callback', type: 'reorder', times: 2 });
    const first = await server.setStatus(referenceNumber, 'a');
    const second = await server.setStatus(referenceNumber, 'b');
    const changing = server.setStatus(referenceNumber, 'c');
    await endpoint.waitFor(2);
    server.reset();
    await changing;
    expect([first.state, second.state]).toEqual(['cancelled', 'cancelled']);
    expect(endpoint.received).toHaveLength(2);
  });

  test('breaks off an attempt under way, which leaves no trace', async () => {
    await using endpoint = await startEndpoint(() => undefined);
    await using server = await startMockServer({ callbackUrl: endpoint.url });
    const referenceNumber = await createPayment(server);
    server.faults.add({ on: 'callback', type: 'duplicate' });
    const changing = server.setStatus(referenceNumber, 'paid');
    await endpoint.waitFor(1);
    server.reset();
    expect(await changing).toMatchObject({ state: 'cancelled', attempts: [] });
    expect(server.deliveries).toEqual([]);
    expect(endpoint.received).toHaveLength(1);
  });
});

test('a wait for the request of a payment finds one whose payment is known once it has ended', async () => {
  await using first = await startMockServer({ seed: 7 });
  const referenceNumber = await createPayment(first);
  await using server = await startMockServer({ seed: 7 });
  const waiting = server.waitForRequest({ referenceNumber });
  expect(await createPayment(server)).toBe(referenceNumber);
  expect(await waiting).toBe(server.requests[0]);
});

describe('close()', () => {
  // In a separate process: the test runner has timers and sockets too.
  test('leaves no socket and no timer behind, whatever was under way, so the process ends', async () => {
    const scene = path.join(process.env['TEST_PROGRAMS'] ?? '', 'close-scene.js');
    const run = promisify(execFile);
    const { stdout } = await run(process.execPath, [scene], { timeout: 20_000 });
    const { before, during, after } = JSON.parse(stdout);
    expect(before).toEqual({ TCPServerWrap: 0, TCPSocketWrap: 0, Timeout: 0 });
    // The server and the endpoint; both ends of two requests and of a callback; the limits of a callback and of a wait.
    // The clock's timer does not count, since it keeps no process alive.
    expect(during.TCPServerWrap).toBe(2);
    expect(during.TCPSocketWrap).toBeGreaterThanOrEqual(6);
    expect(during.Timeout).toBeGreaterThanOrEqual(2);
    // What is left is the endpoint, which listens on.
    expect(after).toEqual({ TCPServerWrap: 1, TCPSocketWrap: 0, Timeout: 0 });
  }, 30_000);

  test('does not wait for a client that is still sending', async () => {
    const server = await startMockServer();
    const { port } = new URL(server.url);
    const socket = connect(Number(port), '127.0.0.1');
    const closed = new Promise((resolve) =>
      socket.on('error', () => undefined).on('close', resolve),
    );
    const head = 'POST /api/payments HTTP/1.1\r\nHost: x\r\nContent-Length: 100\r\n\r\n{';
    await new Promise((resolve) => socket.write(head, resolve));
    // Its answer shows that the server has read the one before.
    await postPayment(server);
    await server.close();
    await closed;
  });

  test('ends the service: what is asked of it afterwards is refused', async () => {
    const server = await startMockServer();
    const referenceNumber = await createPayment(server);
    await server.close();
    const closed = {
      name: 'MockServerError',
      code: 'SERVER_CLOSED',
      message: 'The mock service is closed; start another one',
    };
    await expect(server.setStatus(referenceNumber, 'paid')).rejects.toMatchObject(closed);
    await expect(server.resend(referenceNumber)).rejects.toMatchObject(closed);
    await expect(server.waitForDelivery({})).rejects.toMatchObject(closed);
    await expect(server.waitForRequest({})).rejects.toMatchObject(closed);
    await expect(server.fetch(creation())).rejects.toMatchObject(closed);
    expect(() => server.subscribe(() => undefined)).toThrow('closed');
  });
});
