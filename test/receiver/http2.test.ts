import { once } from 'node:events';
import http2 from 'node:http2';
import type { AddressInfo } from 'node:net';
import { fastify } from 'fastify';
import { describe, expect, it, onTestFinished } from 'vitest';
import { callbackPlugin } from '../../src/fastify/callback-plugin.js';
import { callbackHandler } from '../../src/node/callback-handler.js';
import type { CallbackReceiverOptions } from '../../src/receiver/options.js';
import { PATH, SECRET, sign } from './adapter-contract/scene.js';

type Compat = (request: http2.Http2ServerRequest, response: http2.Http2ServerResponse) => void;

type MakeServer = (options: CallbackReceiverOptions) => Promise<http2.Http2Server>;

const servers: [name: string, makeServer: MakeServer][] = [
  [
    'node:http2',
    // The compatibility layer's requests are those of node:http in all that the handler uses.
    async (options) => http2.createServer(callbackHandler(options) as unknown as Compat),
  ],
  [
    'Fastify',
    async (options) => {
      const app = fastify({ http2: true });
      app.register(callbackPlugin, { path: PATH, ...options });
      await app.ready();
      return app.server;
    },
  ],
];

async function openSession(makeServer: MakeServer, options: Partial<CallbackReceiverOptions> = {}) {
  const server = await makeServer({
    signingSecret: SECRET,
    onPayment: () => undefined,
    ...options,
  });
  const serverStreams = new Set<http2.ServerHttp2Stream>();
  server.on('stream', (stream) => {
    serverStreams.add(stream);
    stream.on('close', () => serverStreams.delete(stream));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const session = http2.connect(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => {
    session.destroy();
    for (const stream of serverStreams) stream.session?.destroy();
    server.close();
  });
  return { session, serverStreams };
}

function post(
  session: http2.ClientHttp2Session,
  headers: http2.OutgoingHttpHeaders,
  method = 'POST',
) {
  return session.request({ ':method': method, ':path': PATH, ...headers }, { endStream: false });
}

const ping = (session: http2.ClientHttp2Session) =>
  new Promise<void>((resolve) => session.ping(() => resolve()));

describe.each(servers)('a callback over HTTP/2 by %s', (_name, makeServer) => {
  it('is processed, and leaves no stream open', async () => {
    const { session, serverStreams } = await openSession(makeServer);
    const { rawBody, headers } = sign();
    const stream = post(session, headers);
    stream.end(rawBody);
    const [answer] = await once(stream, 'response');
    expect(answer[':status']).toBe(200);
    stream.resume();
    await once(stream, 'close');
    expect(serverStreams.size).toBe(0);
  });

  it.each([
    ['413 for a body beyond the limit', 'POST', 413],
    ['405 for a method whose body is not wanted', 'PUT', 405],
  ])('leaves no stream open after %s', async (_, method, status) => {
    const { session, serverStreams } = await openSession(makeServer, { maxBodyBytes: 10 });
    const streams = Array.from({ length: 60 }, () => {
      const stream = post(session, sign().headers, method);
      // The body goes on, for ever as far as the server knows.
      stream.write(Buffer.alloc(100));
      stream.resume();
      return stream;
    });
    const answers = await Promise.all(
      streams.map(async (stream) => {
        const [answer] = await once(stream, 'response');
        return answer[':status'];
      }),
    );
    expect(answers).toEqual(streams.map(() => status));
    // More turns of the server than it takes.
    for (let turn = 0; turn < 20 && serverStreams.size > 0; turn += 1) await ping(session);
    expect(serverStreams.size).toBe(0);
    await ping(session);
    expect(streams.map(({ rstCode }) => rstCode)).toEqual(streams.map(() => 0));
  });
});
