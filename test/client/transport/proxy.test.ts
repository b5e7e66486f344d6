import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net';
import { ProxyAgent } from 'undici';
import { describe, expect, it, onTestFinished } from 'vitest';
import {
  createClient,
  created,
  failureOf,
  order,
  refusedPort,
  startRawServer,
  withoutJitter,
} from '../raw-server.js';

/** A proxy that tunnels by CONNECT and forwards plain requests, and remembers both. */
async function startProxy(tunnelStatus = 200) {
  const seen: string[] = [];
  const sockets = new Set<Socket>();
  const server = createServer((incoming, answer) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    const { method, headers } = incoming;
    const onward = httpRequest(incoming.url as string, { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode as number, reply.headers);
      reply.pipe(answer);
    });
    incoming.pipe(onward);
  });
  server.on('connection', (socket) => sockets.add(socket));
  server.on('connect', ({ url }, socket) => {
    seen.push(`CONNECT ${url}`);
    if (tunnelStatus !== 200) {
      socket.end(`HTTP/1.1 ${tunnelStatus} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const onward = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 Connected\r\n\r\n');
      socket.pipe(onward).pipe(socket);
    });
    sockets.add(onward);
    for (const side of [socket, onward]) side.on('error', () => {});
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, seen };
}

function setEnvironment(values: Record<string, string>): void {
  const saved = { ...process.env };
  onTestFinished(() => {
    process.env = saved;
  });
  for (const name of ['http_proxy', 'https_proxy', 'no_proxy', 'NO_PROXY', 'HTTPS_PROXY']) {
    delete process.env[name];
  }
  Object.assign(process.env, values);
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
  ['NODE_OPTIONS with underscores', '--use_env_proxy', []],
  ['the command line', undefined, ['--use-env-proxy']],
  ['the command line, against NODE_OPTIONS', '--no-use-env-proxy', ['--use-env-proxy']],
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
  ['', ['--use-env-proxy', '--no-use-env-proxy']],
  ['--use-env-proxy', ['--no-use-env-proxy']],
  ['--title=--use-env-proxy', []],
])('with NODE_OPTIONS=%j and %j a call goes straight to the service', async (options, execArgv) => {
  const [proxy, server] = [await startProxy(), await startRawServer({ answer: () => created })];
  setEnvironment({ HTTP_PROXY: proxy.url, NODE_OPTIONS: options });
  setArguments(...execArgv);
  await createClient(server.url).payments.create(order);
  expect(proxy.seen).toEqual([]);
});

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

  it('a proxy that refuses connections leaves nothing sent', async () => {
    withoutJitter();
    const server = await startRawServer({ answer: () => created });
    const HTTP_PROXY = `http://127.0.0.1:${await refusedPort()}`;
    setEnvironment({ NODE_USE_ENV_PROXY: '1', HTTP_PROXY });
    const error = await failureOf(createClient(server.url).payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(server.connections).toHaveLength(0);
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
    const [proxy, server] = [await startProxy(407), await startRawServer({})];
    const dispatcher = new ProxyAgent({ uri: proxy.url, proxyTunnel: true });
    onTestFinished(() => dispatcher.destroy());
    const client = createClient(server.url, { dispatcher, maxRetries: 0 });
    const error = await failureOf(client.payments.create(order));
    expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
    expect(server.connections).toHaveLength(0);
  });
});
