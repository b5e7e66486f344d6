import { once } from 'node:events';
import http from 'node:http';
import https from 'node:https';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const RETRY_INTERVAL_MS = 100;
const MAX_CONNECT_MS = 1_000;

/**
 * Waits until something listens at the host and port of the URL. Sends nothing. Resolves with whether it
 * listened in time.
 */
export async function isListeningWithin(
  { hostname, port, protocol }: URL,
  withinMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const end = performance.now() + withinMs;
  for (;;) {
    const socket = connect({ host, port: Number(port) || (protocol === 'https:' ? 443 : 80) });
    // Also after the wait has ended.
    socket.on('error', () => undefined);
    const connected = await once(socket, 'connect', {
      signal: AbortSignal.timeout(MAX_CONNECT_MS),
    }).then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (connected) return true;
    if (performance.now() + RETRY_INTERVAL_MS >= end) return false;
    await sleep(RETRY_INTERVAL_MS, undefined, { signal });
  }
}

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  /** The limit for the whole exchange. */
  readonly timeoutMs: number;
  /** Reading the body stops after this many bytes. */
  readonly maxBytes: number;
}

interface Received {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** At least its first `maxBytes`. */
  readonly body: Buffer;
}

/** The code of the error of an exchange that took too long. */
export const TIMED_OUT = 'TIMED_OUT';

/**
 * Sends a request over a new connection; follows no redirect. Rejects when the answer is incomplete, with
 * {@link TIMED_OUT} when it took too long.
 */
export async function exchange(
  url: URL,
  { method, headers, body, timeoutMs, maxBytes }: Request,
): Promise<Received> {
  const { request: open } = url.protocol === 'https:' ? https : http;
  const length = body && { 'content-length': String(body.byteLength) };
  const request = open(url, { method, agent: false, headers: { ...headers, ...length } });
  let reason: string | undefined;
  const end = (code: string) => {
    reason = code;
    request.destroy();
    // An upgraded request ends without an event.
    request.emit('error', new Error(code));
  };
  const timer = setTimeout(end, timeoutMs, TIMED_OUT);
  request.on('error', () => undefined);
  request.once('upgrade', (_response, socket) => {
    socket.destroy();
    end('UNEXPECTED_UPGRADE');
  });
  request.end(body);
  try {
    const [response] = (await once(request, 'response')) as [http.IncomingMessage];
    const { statusCode: status = 0, headers: answered } = response;
    return { status, headers: answered, body: await readBody(response, maxBytes) };
  } catch (error) {
    throw reason === undefined ? error : Object.assign(new Error(reason), { code: reason });
  } finally {
    clearTimeout(timer);
    request.destroy();
  }
}

async function readBody(response: http.IncomingMessage, maxBytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.byteLength;
    if (bytes >= maxBytes) break;
  }
  return Buffer.concat(chunks);
}
