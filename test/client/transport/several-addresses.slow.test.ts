import { spawn } from 'node:child_process';
import dns from 'node:dns';
import { once } from 'node:events';
import net, { connect } from 'node:net';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createClient, failureOf, noRetries, order, record, refusedPort } from '../raw-server.js';

// Linux drops a connection's first packet where a stopped server's queue is full, and sends it again after a second.
const onLinux = it.skipIf(process.platform !== 'linux');

const SERVER = `
  const [, host, port] = process.argv;
  const answer = ${JSON.stringify(JSON.stringify(record))};
  const server = require('node:http').createServer((request, response) => {
    request.resume();
    response.writeHead(201, { 'content-type': 'application/json' }).end(answer);
  });
  // It is its own proxy.
  server.on('connect', (request, socket) => {
    socket.write('HTTP/1.1 200 Connected\\r\\n\\r\\n');
    server.emit('connection', socket);
  });
  server.listen({ host, port, backlog: 1 }, () => process.send(server.address().port));
`;

/** A server that is stopped, and whose queue is full. */
async function startStoppedServer(host: string, port = 0) {
  const args = ['--eval', SERVER, host, String(port)];
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  onTestFinished(() => void server.kill('SIGKILL'));
  const [listening] = (await once(server, 'message')) as [number];
  server.kill('SIGSTOP');
  const fillers = Array.from({ length: 4 }, () => connect(listening, host).on('error', () => {}));
  onTestFinished(() => {
    for (const socket of fillers) socket.destroy();
  });
  // The queue takes one more than its length.
  await Promise.all(fillers.slice(0, 2).map((socket) => once(socket, 'connect')));
  return { server, port: listening };
}

/** Lets a name have these addresses. */
function resolveTo(...addresses: string[]): void {
  const found = addresses.map((address) => ({ address, family: net.isIP(address) }));
  const spy = vi
    .spyOn(dns, 'lookup')
    .mockImplementation(((
      _name: string,
      _options: object,
      callback: (error: null, addresses: typeof found) => void,
    ) => process.nextTick(callback, null, found)) as unknown as typeof dns.lookup);
  onTestFinished(() => spy.mockRestore());
}

onLinux.each<[string, (port: number) => string]>([
  ['the service', (port) => `http://two-addresses.test:${port}`],
  [
    'a proxy',
    (port) => {
      vi.stubEnv('NODE_USE_ENV_PROXY', '1');
      vi.stubEnv('HTTP_PROXY', `http://two-addresses.test:${port}`);
      for (const name of ['http_proxy', 'no_proxy', 'NO_PROXY']) vi.stubEnv(name, undefined);
      return 'http://payments.test';
    },
  ],
])(
  'an address of %s that needs a second to connect is reached beside a dead one',
  async (_to, toUrl) => {
    const { server: slow, port } = await startStoppedServer('127.0.0.1');
    await startStoppedServer('127.0.0.2', port);
    resolveTo('127.0.0.1', '127.0.0.2');
    const options = { ...noRetries, dangerouslyAllowHttp: true };
    const call = createClient(toUrl(port), options).payments.create(order);
    // After Node's default, and before the packet is repeated.
    setTimeout(() => slow.kill('SIGCONT'), 400);
    expect((await call).payment).toEqual(record);
  },
);

it('the error of addresses that refuse names each of them', async () => {
  const port = await refusedPort();
  resolveTo('127.0.0.1', '::1');
  const options = { ...noRetries, dangerouslyAllowHttp: true };
  const client = createClient(`http://payments.test:${port}`, options);
  const error = await failureOf(client.payments.create(order));
  expect(error).toMatchObject({ code: 'CONNECTION_FAILED', requestOutcome: 'not-sent' });
  const { message } = error.cause as Error;
  expect(message).toContain(`127.0.0.1:${port}; connect `);
  expect(message).toContain(` ::1:${port}`);
});
