import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { connect as connectTls, TLSSocket } from 'node:tls';
import { onTestFinished } from 'vitest';

interface Identity {
  readonly key: string;
  readonly cert: string;
}

interface ProxyOptions {
  /** Its answer to CONNECT. */
  readonly tunnelStatus?: number;
  /** The `user:password` that it asks for. */
  readonly credentials?: string;
  /** It is reached by TLS. */
  readonly identity?: Identity;
  /** It opens the TLS in its tunnels, with this identity. What it trusts is the second one. */
  readonly inspects?: { readonly as: Identity; readonly trusts: string };
}

/** A proxy that tunnels by CONNECT and forwards plain requests, and remembers both. */
export async function startProxy(options: ProxyOptions = {}) {
  const { tunnelStatus = 200, credentials, identity, inspects } = options;
  const seen: string[] = [];
  const sockets = new Set<Duplex>();
  const server: Server = identity === undefined ? createServer() : createTlsServer(identity);
  server.on('request', (incoming, answer) => {
    seen.push(`${incoming.method} ${incoming.url}`);
    const { method, headers } = incoming;
    const onward = httpRequest(incoming.url as string, { method, headers }, (reply) => {
      answer.writeHead(reply.statusCode as number, reply.headers);
      reply.pipe(answer);
    });
    incoming.pipe(onward);
  });
  server.on('connection', (socket: Socket) => sockets.add(socket));
  server.on('connect', ({ url, headers }: IncomingMessage, socket: Duplex) => {
    seen.push(`CONNECT ${url}`);
    socket.on('error', () => {});
    const status = isAllowed(headers, credentials) ? tunnelStatus : 407;
    if (status !== 200) {
      socket.end(`HTTP/1.1 ${status} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${url}`);
    const target = { host: hostname, port: Number(port) };
    socket.write('HTTP/1.1 200 Connected\r\n\r\n');
    const [near, onward] =
      inspects === undefined
        ? [socket, connect(target)]
        : [
            new TLSSocket(socket, { isServer: true, ...inspects.as }),
            connectTls({ ...target, servername: hostname, ca: inspects.trusts }),
          ];
    for (const side of [near, onward]) {
      sockets.add(side.on('error', () => {}));
    }
    near.pipe(onward).pipe(near);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    for (const socket of sockets) socket.destroy();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, port, seen };
}

function isAllowed(headers: IncomingMessage['headers'], credentials: string | undefined): boolean {
  if (credentials === undefined) return true;
  const expected = `Basic ${Buffer.from(credentials).toString('base64')}`;
  return headers['proxy-authorization'] === expected;
}
