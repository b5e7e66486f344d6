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
 *
 * @throws the reason of `signal` when it is aborted
 */
export async function isListeningWithin(
  url: URL,
  withinMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const end = performance.now() + withinMs;
  for (;;) {
    const leftMs = end - performance.now();
    if (await canConnect(url, Math.max(1, Math.min(leftMs, MAX_CONNECT_MS)))) return true;
    if (performance.now() + RETRY_INTERVAL_MS >= end) return false;
    await sleep(RETRY_INTERVAL_MS, undefined, { signal });
  }
}

function canConnect(url: URL, timeoutMs: number): Promise<boolean> {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1');
  const port = Number(url.port) || (url.protocol === 'https:' ? 443 : 80);
  return new Promise((resolve) => {
    const socket = connect({ host, port, autoSelectFamily: true });
    const settle = (answer: boolean) => {
      clearTimeout(timer);
      socket.destroy();
      resolve(answer);
    };
    const timer = setTimeout(() => settle(false), timeoutMs);
    socket.once('connect', () => settle(true));
    socket.once('error', () => settle(false));
  });
}

interface Request {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | undefined;
  readonly signal: AbortSignal;
  /** Reading the body stops after this many bytes. */
  readonly maxBytes: number;
}

interface Received {
  readonly status: number;
  readonly headers: http.IncomingHttpHeaders;
  /** At least its first `maxBytes`. */
  readonly body: Buffer;
}

/** Sends a request over a new connection; follows no redirect. Rejects when the answer is incomplete. */
export function exchange(
  url: URL,
  { method, headers, body, signal, maxBytes }: Request,
): Promise<Received> {
  const { request: open } = url.protocol === 'https:' ? https : http;
  const length = body && { 'content-length': String(body.byteLength) };
  return new Promise((resolve, reject) => {
    const request = open(url, { method, agent: false, signal, headers: { ...headers, ...length } });
    request.on('error', reject);
    request.once('upgrade', (_response, socket) => {
      socket.destroy();
      reject(Object.assign(new Error('the answer was 101'), { code: 'UNEXPECTED_UPGRADE' }));
    });
    request.once('response', (response) => {
      readBody(response, maxBytes)
        .then((received) => {
          const { statusCode = 0, headers } = response;
          resolve({ status: statusCode, headers, body: received });
        }, reject)
        .finally(() => request.destroy());
    });
    request.end(body);
  });
}

/** Longer than the mock ever is silent. */
const LONGEST_SILENCE_MS = 60_000;

/** Opens an answer that lasts until the server ends it, or `signal` is aborted. */
export async function openStream(url: URL, signal: AbortSignal): Promise<http.IncomingMessage> {
  const { request: open } = url.protocol === 'https:' ? https : http;
  const request = open(url, { agent: false, signal, timeout: LONGEST_SILENCE_MS });
  request.once('timeout', () => request.destroy(new Error('no sign of life')));
  request.end();
  const [response] = await once(request, 'response');
  return response;
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
