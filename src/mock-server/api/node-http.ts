import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { InvalidOptionError, MockServerError } from '../../errors.js';
import { timers } from '../../protocol/timers.js';
import type { ResolvedServerOptions } from '../options.js';
import {
  ConnectionLoss,
  MAX_BODY_BYTES,
  type PlainAnswer,
  type PlainRequest,
  withoutQuery,
} from './http-messages.js';

/**
 * @throws {MockServerError} `PORT_IN_USE`
 * @throws {InvalidOptionError} when this machine can't listen on the host and the port
 */
export async function listen({ port, host }: ResolvedServerOptions): Promise<Server> {
  // Node's own record of headers would drop the second of a name.
  const server = createServer({ joinDuplicateHeaders: true });
  // A kept connection is the client's to close: closed here, it could break under a request that is on its way.
  server.keepAliveTimeout = 0;
  try {
    await new Promise<void>((resolve, reject) => {
      server.once('error', reject).listen(port, host, resolve);
    });
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException;
    if (code === 'EADDRINUSE') {
      throw new MockServerError(
        'PORT_IN_USE',
        `Port ${port} of ${host} is in use: stop what listens there, or choose another port`,
        { cause },
      );
    }
    const message = `host and port must be those of this machine; listening on ${host}, port ${port} failed with ${code}`;
    throw new InvalidOptionError('host', message, { cause });
  }
  return server;
}

// A server can listen on "all addresses", but a client can't connect to them.
const LOOPBACK: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' };
export function toUrl({ address, port, family }: AddressInfo): string {
  const host = LOOPBACK[address] ?? address;
  return `http://${family === 'IPv6' ? `[${host}]` : host}:${port}`;
}

export class IncomingRequest implements PlainRequest {
  readonly method: string;
  readonly target: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly #incoming: IncomingMessage;
  readonly #outgoing: ServerResponse;

  constructor(incoming: IncomingMessage, outgoing: ServerResponse) {
    this.method = incoming.method as string;
    this.target = incoming.url as string;
    this.path = withoutQuery(this.target);
    // Only set-cookie would be a list, which no client sends.
    this.headers = incoming.headers as Readonly<Record<string, string>>;
    this.#incoming = incoming;
    this.#outgoing = outgoing;
  }

  /** A new one at each call. Few requests need it. */
  get signal(): AbortSignal {
    const left = new AbortController();
    this.#outgoing.once('close', () => left.abort());
    if (this.#outgoing.closed) left.abort();
    return left.signal;
  }

  // Reads and drops what exceeds the limit: a client whose connection breaks would never see its 413.
  readBody(): Promise<Uint8Array | undefined> {
    const incoming = this.#incoming;
    return new Promise((resolve, reject) => {
      if (this.method === 'GET' || this.method === 'HEAD') return resolve(new Uint8Array());
      const chunks: Buffer[] = [];
      let size = 0;
      incoming.on('data', (chunk: Buffer) => {
        size += chunk.byteLength;
        if (size <= MAX_BODY_BYTES) chunks.push(chunk);
        else resolve(undefined);
      });
      incoming.on('end', () => resolve(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)));
      incoming.on('error', reject);
    });
  }
}

/** @throws {ConnectionLoss} when the connection is to break after the body */
export async function sendAnswer(answer: PlainAnswer, outgoing: ServerResponse): Promise<void> {
  const { status, headers, body, loss, follow } = answer;
  outgoing.writeHead(status, headers);
  if (follow !== undefined) return follow(outgoing);
  if (loss === undefined) {
    outgoing.end(body);
    return;
  }
  // Until the bytes have left the process, because a reset that follows would drop them.
  await new Promise<void>((resolve, reject) => {
    outgoing.write(body, (error) => (error ? reject(error) : resolve()));
  });
  throw loss;
}

/** Breaks the connection as the error says, by default with a reset. */
export async function sendFailure(error: unknown, outgoing: ServerResponse): Promise<void> {
  const { socket } = outgoing;
  if (error instanceof ConnectionLoss && error.how === 'end') {
    socket?.destroySoon();
    return;
  }
  if (outgoing.headersSent) await giveHeadStart(outgoing);
  socket?.resetAndDestroy();
}

/** Milliseconds of real time. */
const HEAD_START_MS = 50;

// libuv takes last bytes and a reset that arrive together for an orderly end, so the bytes are sent first.
// The immediate lets a busy client in this process read them.
function giveHeadStart(outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve) => {
    const timer = timers.setTimeout(() => timers.setImmediate(resolve), HEAD_START_MS);
    outgoing.once('close', () => {
      timers.clearTimeout(timer);
      resolve();
    });
  });
}
