import { once } from 'node:events';
import { type AddressInfo, createServer as createTcpServer } from 'node:net';
import { inspect } from 'node:util';
import { ProxyAgent } from 'undici';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createClient,
  created,
  failureOf,
  order,
  refusedPort,
  startRawServer,
  withoutJitter,
} from '../raw-server.js';
import { startProxy } from './connect-proxy.js';

// Not another object as process.env: vitest would not undo what later tests stub.
function setEnvironment(values: Record<string, string>): void {
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'NO_PROXY', 'HTTPS_PROXY']) {
    vi.stubEnv(name, undefined);
  }
  for (const [name, value] of Object.entries(values)) vi.stubEnv(name, value);
}

function setArguments(...execArgv: string[]): void {
  const saved = process.execArgv;
  onTestFinished(() => {
    process.execArgv = saved;
  });
  process.execArgv = execArgv;
}

describe.each([
  ['NODE_OPTIONS', '--max-http-header-size=20000 --use-env-proxy', []],
  ['the command line', undefined, ['--use-env-proxy']],
])('with --use-env-proxy in %s', (_where, NODE_OPTIONS, execArgv) => {
  it('a call goes through the proxy of the environment, as that of fetch does', async () => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ HTTP_PROXY: proxy.url, ...(NODE_OPTIONS && { NODE_OPTIONS }) });
    setArguments(...execArgv);
    await createClient(server.url).payments.create(order);
    expect(proxy.seen).toHaveLength(1);
    expect(server.requests).toHaveLength(1);
  });
});

it.each([
  ['', [], '0'],
  ['--title=--use-env-proxy', [], '0'],
])(
  'NODE_OPTIONS=%j, %j and NODE_USE_ENV_PROXY=%j: a call goes straight to the service',
  async (NODE_OPTIONS, execArgv, NODE_USE_ENV_PROXY) => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ HTTP_PROXY: proxy.url, NODE_OPTIONS, NODE_USE_ENV_PROXY });
    setArguments(...execArgv);
    await createClient(server.url).payments.create(order);
    expect(proxy.seen).toEqual([]);
  },
);

describe('with NODE_USE_ENV_PROXY=1', () => {
  it('a call goes through the proxy of the environment', async () => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url });
    const client = createClient(server.url);
    expect((await client.payments.create(order)).response).toMatchObject({ status: 201 });
    expect(proxy.seen).toHaveLength(1);
    expect(proxy.seen[0]).toContain(`127.0.0.1:${server.port}`);
    expect(server.requests).toHaveLength(1);
    await client.close();
  });

  it('a call goes straight to a host of NO_PROXY', async () => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' });
    await createClient(server.url).payments.create(order);
    expect(proxy.seen).toEqual([]);
    expect(server.requests).toHaveLength(1);
  });

  it('calls in turn go over one connection', async () => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url });
    const client = createClient(server.url);
    for (let call = 0; call < 3; call += 1) await client.payments.create(order);
    expect(server.requests).toHaveLength(3);
    expect(server.connections).toHaveLength(1);
  });

  it('a proxy that refuses connections leaves nothing sent', async () => {
    withoutJitter();
    const server = await startRawServer({ answer: () => created });
    const HTTP_PROXY = `http://127.0.0.1:${await refusedPort()}`;
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY });
    const error = await failureOf(createClient(server.url).payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(error.message).toContain('(ECONNREFUSED)');
    expect(server.connections).toHaveLength(0);
  });

  it.each([403, 407, 502])(
    'a proxy that answers CONNECT with %i leaves nothing sent',
    async (status) => {
      const proxy = await startProxy({ tunnelStatus: status });
      setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY: proxy.url });
      const client = createClient('https://service.invalid', { maxRetries: 0 });
      const error = await failureOf(client.payments.create(order));
      expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
      expect(error.message).toContain('(PROXY_TUNNEL_FAILED)');
      expect((error.cause as Error).message).toContain(String(status));
      expect(proxy.seen).toEqual(['CONNECT service.invalid:443']);
    },
  );

  it.each([
    ['HTTP_PROXY', 'http://me:hunter2@proxy example:8080'],
    ['HTTPS_PROXY', 'http://me:hunter2@proxy.example:99999'],
    ['https_proxy', 'http://m%e:hunter2@proxy.example:8080'],
    ['http_proxy', 'me:hunter2@proxy.example:8080'],
    ['HTTPS_PROXY', 'socks5://me:hunter2@127.0.0.1:1080'],
  ])('a proxy that can’t be used is named by %s alone (%s)', async (name, url) => {
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: '', [name]: url });
    const client = createClient('https://service.invalid', { maxRetries: 0 });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({
      code: 'INVALID_OPTION',
      option: name,
      requestOutcome: 'not-sent',
    });
    expect(error.message).toContain(
      `${name} must be the URL of a proxy that begins with http:// or`,
    );
    expect(inspect(error, { depth: null, showHidden: true })).not.toContain('hunter2');
  });

  it('a proxy that is reached by TLS can be used', async () => {
    withoutJitter();
    const HTTPS_PROXY = `https://127.0.0.1:${await refusedPort()}`;
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY });
    const client = createClient('https://service.invalid', { maxRetries: 0 });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
  });

  it('a proxy that drops the CONNECT is asked once, and nothing is sent', async () => {
    let connects = 0;
    const proxy = createTcpServer((socket) => {
      socket
        .on('error', () => undefined)
        .once('data', () => {
          connects += 1;
          socket.destroy();
        });
    }).listen(0, '127.0.0.1');
    onTestFinished(() => void proxy.close());
    await once(proxy, 'listening');
    const HTTPS_PROXY = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTPS_PROXY });
    const client = createClient('https://service.invalid', { maxRetries: 0 });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(connects).toBe(1);
    await client.close();
  });
});

it('a proxy that can’t be used does not matter where it is not used', async () => {
  const server = await startRawServer({ answer: () => created });
  setEnvironment({ HTTP_PROXY: 'socks5://127.0.0.1:1080' });
  expect((await createClient(server.url).payments.create(order)).response.status).toBe(201);
});

it.each([['0'], ['']])(
  'with NODE_USE_ENV_PROXY=%j a call goes straight to the service',
  async (value) => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ NODE_USE_ENV_PROXY: value, HTTP_PROXY: proxy.url });
    await createClient(server.url).payments.create(order);
    expect(proxy.seen).toEqual([]);
  },
);

describe('a ProxyAgent as dispatcher', () => {
  it('carries the call through a tunnel', async () => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: true });
    onTestFinished(() => dispatcher.destroy());
    const { response } = await createClient(server.url, { dispatcher }).payments.create(order);
    expect(response).toMatchObject({ status: 201, attempts: 1 });
    expect(proxy.seen).toEqual([`CONNECT 127.0.0.1:${server.port}`]);
  });

  it('whose proxy refuses the tunnel leaves nothing sent', async () => {
    const [proxy, server] = [await startProxy({ tunnelStatus: 407 }), await startRawServer({})];
    const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: true });
    onTestFinished(() => dispatcher.destroy());
    const client = createClient(server.url, { dispatcher, maxRetries: 0 });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(server.connections).toHaveLength(0);
  });
});
