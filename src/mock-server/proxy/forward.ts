import http from 'node:http';
import { urlToHttpOptions } from 'node:url';
import { JoinedSignal } from '../../protocol/joined-signal.js';
import type { PlainAnswer } from '../api/http-messages.js';

/** A request to forward. */
export interface ForwardedRequest {
  readonly origin: string;
  /** Path and query, as received. */
  readonly path: string;
  readonly method: string;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
  readonly signal: AbortSignal;
  /** How long the complete answer may take. */
  readonly timeoutMs: number;
}

/** No complete answer was received. The message contains no address and nothing that was sent. */
export class ForwardFailure extends Error {
  override readonly name = 'ForwardFailure';
}

// Headers of one connection (RFC 9110, section 7.6.1); host and content-length, which Node or forward() sets;
// and accept-encoding, as a fault can't damage a compressed body.
const NOT_FORWARDED = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
  'host',
  'content-length',
  'accept-encoding',
];

const MAX_ANSWER_BYTES = 1_048_576;

/** Statuses with neither a body nor a content-length. */
const WITHOUT_BODY = [204, 205, 304];

/**
 * Forwards a request, with its body byte for byte, over a new connection. Follows no redirect.
 *
 * @throws {ForwardFailure} when there is no complete answer of at most 1 MiB
 */
export async function forward(request: ForwardedRequest): Promise<PlainAnswer> {
  using deadline = new JoinedSignal([request.signal], request.timeoutMs);
  try {
    const answer = await exchange(request, deadline.signal);
    const body = await readBody(answer);
    const { statusCode = 502, headers } = answer;
    const kept = toForwarded(
      Object.entries(headers).flatMap(([name, value]) =>
        (Array.isArray(value) ? value : [value ?? '']).map((one) => [name, one] as const),
      ),
      headers.connection,
    );
    const isEmpty = WITHOUT_BODY.includes(statusCode) || request.method === 'HEAD';
    if (!isEmpty) kept.set('content-length', String(body.byteLength));
    // Object.fromEntries keeps only one Set-Cookie.
    const cookies = kept.getSetCookie();
    return {
      status: statusCode,
      headers: {
        ...Object.fromEntries(kept),
        ...(cookies.length > 0 && { 'set-cookie': cookies }),
      },
      body: isEmpty ? '' : body,
    };
  } catch (error) {
    if (error instanceof ForwardFailure) throw error;
    if (deadline.isOver) {
      throw new ForwardFailure(`There was no complete answer within ${request.timeoutMs} ms`);
    }
    const { code, name } = error as NodeJS.ErrnoException;
    throw new ForwardFailure(`The connection failed with ${code ?? name}`);
  }
}

function exchange(
  { origin, path, method, headers, body }: ForwardedRequest,
  signal: AbortSignal,
): Promise<http.IncomingMessage> {
  const url = new URL(origin);
  const { request: open } =
    url.protocol === 'https:' ? process.getBuiltinModule('node:https') : http;
  const kept = toForwarded([...headers], headers.get('connection'));
  if (body.byteLength > 0) kept.set('content-length', String(body.byteLength));
  return new Promise((resolve, reject) => {
    open({
      ...urlToHttpOptions(url),
      path,
      method,
      headers: { ...Object.fromEntries(kept), 'accept-encoding': 'identity' },
      agent: false,
      signal,
    })
      .on('error', reject)
      .once('response', resolve)
      .once('upgrade', (_answer, socket) => {
        socket.destroy();
        reject(new ForwardFailure('The answer was 101, which is not forwarded'));
      })
      .end(body);
  });
}

function toForwarded(
  headers: Iterable<readonly [name: string, value: string]>,
  connection = '',
): Headers {
  const left = new Set([
    ...NOT_FORWARDED,
    ...connection.split(',').map((name) => name.trim().toLowerCase()),
  ]);
  const kept = new Headers();
  for (const [name, value] of headers) if (!left.has(name)) kept.append(name, value);
  return kept;
}

async function readBody(answer: http.IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of answer) {
    size += chunk.byteLength;
    // Leaving the loop closes the connection.
    if (size > MAX_ANSWER_BYTES) throw new ForwardFailure('The answer is over 1 MiB');
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
