import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { MockServerError } from '../../errors.js';
import { timers } from '../../protocol/timers.js';
import { parseUrl } from '../../protocol/url.js';
import {
  ConnectionLoss,
  MAX_BODY_BYTES,
  type PlainAnswer,
  type PlainRequest,
  toBytes,
} from './http-messages.js';

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

/**
 * Describes a request that Node received. `undefined` for what `fetch` can't send: the method TRACE, or a
 * target that is not a URL or holds credentials.
 */
export function createRequest(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  baseUrl: string,
): PlainRequest | undefined {
  const { method = 'GET', url: target = '/' } = incoming;
  const url = parse(target, baseUrl);
  if (url === undefined || method === 'TRACE') return undefined;
  const hasBody = method !== 'GET' && method !== 'HEAD';
  let left: AbortSignal | undefined;
  return {
    method,
    pathname: url.pathname,
    search: url.search,
    headers: createHeaders(incoming.rawHeaders),
    // Created on demand: few requests need it.
    get signal() {
      left ??= createLeaveSignal(incoming, outgoing);
      return left;
    },
    readBody: async () => (hasBody ? readBody(incoming) : new Uint8Array()),
  };
}

function parse(target: string, baseUrl: string): URL | undefined {
  const url = parseUrl(target, baseUrl);
  return url?.username === '' && url.password === '' ? url : undefined;
}

// A pipelined response that is still waiting for its turn is not closed with the connection, so the
// connection is observed too.
function createLeaveSignal({ socket }: IncomingMessage, outgoing: ServerResponse): AbortSignal {
  const left = new AbortController();
  const leave = () => {
    socket.off('close', leave);
    if (!outgoing.writableFinished) left.abort();
  };
  // Each pipelined request adds a listener, which is not a leak.
  socket.setMaxListeners(0);
  socket.once('close', leave);
  outgoing.once('close', leave);
  if (socket.destroyed) leave();
  return left.signal;
}

// Joins headers of one name, as `fetch` does; Node's own record drops the second.
function createHeaders(rawHeaders: readonly string[]): ReadonlyMap<string, string> {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < rawHeaders.length; index += 2) {
    const name = rawHeaders[index]?.toLowerCase() ?? '';
    const value = rawHeaders[index + 1] ?? '';
    const before = headers.get(name);
    const separator = name === 'cookie' ? '; ' : ', ';
    headers.set(name, before === undefined ? value : before + separator + value);
  }
  return headers;
}

// Reads and drops what exceeds the limit: a client whose connection breaks would never see its 413.
function readBody(incoming: IncomingMessage): Promise<Uint8Array | undefined> {
  return new Promise((resolve, reject) => {
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

/** @throws {ConnectionLoss} when the connection is to break after the body */
export async function sendAnswer(answer: PlainAnswer, outgoing: ServerResponse): Promise<void> {
  const { status, headers, body, loss, follow } = answer;
  outgoing.writeHead(status, headers);
  if (follow !== undefined) return follow(outgoing);
  if (loss === undefined) {
    outgoing.end(body);
    return;
  }
  await write(toBytes(body), outgoing);
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

// Resolves when the bytes have left the process, because a reset that follows would drop them.
function write(bytes: Uint8Array, outgoing: ServerResponse): Promise<void> {
  return new Promise((resolve, reject) => {
    outgoing.write(bytes, (error) => (error ? reject(error) : resolve()));
  });
}
