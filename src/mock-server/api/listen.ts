import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MockServerError } from '../../errors.js';

interface ListenOptions {
  readonly port: number;
  readonly host: string;
}

/** @throws {MockServerError} `PORT_IN_USE` or `LISTEN_FAILED` */
export function listen(server: Server, { port, host }: ListenOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (cause: NodeJS.ErrnoException) => {
      reject(
        cause.code === 'EADDRINUSE'
          ? new MockServerError('PORT_IN_USE', `Port ${port} of ${host} is in use`, { cause })
          : new MockServerError(
              'LISTEN_FAILED',
              `Listening on ${host}, port ${port} failed with ${cause.code}`,
              { cause },
            ),
      );
    });
    server.listen(port, host, resolve);
  });
}

// A server can listen on "all addresses", but a client can't connect to them.
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };

/** The base address of a server that listens. */
export function toUrl({ address, port, family }: AddressInfo): string {
  const host = LOOPBACK[address] ?? address;
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}
