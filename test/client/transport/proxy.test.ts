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

const flag = '--use-env-proxy';
it.each<[Record<string, string>, string[], boolean]>([
  [{ NODE_OPTIONS: `--max-http-header-size=20000 ${flag}` }, [], true],
  [{}, [flag], true],
  [{ NODE_OPTIONS: `--title=${flag}` }, [], false],
  [{ NODE_USE_ENV_PROXY: '0' }, [], false],
  [{ NODE_USE_ENV_PROXY: '' }, [], false],
])(
  'with %j and %j a call goes through the proxy of the environment: %s',
  async (variables, execArgv, isUsed) => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ HTTP_PROXY: proxy.url, ...variables });
    setArguments(...execArgv);
    await createClient(server.url).payments.create(order);
    expect(proxy.seen).toHaveLength(isUsed ? 1 : 0);
    expect(server.requests).toHaveLength(1);
  },
);

describe('with NODE_USE_ENV_PROXY=1', () => {
  it('a call goes through the proxy of the environment', async () => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url });
    const client = createClient(server.url);
    for (let call = 0; call < 2; call += 1) await client.payments.create(order);
    expect(proxy.seen[0]).toContain(`127.0.0.1:${server.port}`);
    expect(server.requests).toHaveLength(2);
    expect(server.connections).toHaveLength(1);
  });

  it('a call goes straight to a host of NO_PROXY', async () => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY: proxy.url, NO_PROXY: '127.0.0.1' });
    await createClient(server.url).payments.create(order);
    expect(proxy.seen).toEqual([]);
    expect(server.requests).toHaveLength(1);
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

  it.each([407, 502])(
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
    ['HTTPS_PROXY', 'http://me:hunter2@proxy.example:99999'],
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

describe('a ProxyAgent as dispatcher', () => {
  it('carries the call through a tunnel', async () => {
    const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
    const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: true });
    onTestFinished(() => dispatcher.destroy());
    await createClient(server.url, { dispatcher }).payments.create(order);
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
