import { isConnectFailure, isUnreadableAnswer, watchConnectErrors } from './socket-errors.js';
import {
  type Answer,
  type BodyFailure,
  type Exchange,
  GIVEN_UP,
  type ResponseHeaders,
  type Transport,
} from './transport.js';

/**
 * Sends by `fetch`. It does not say when a request left this machine, so only failures to connect to
 * the service count as not sent.
 */
export function createFetchTransport(
  fetch: typeof globalThis.fetch,
  maxResponseBytes: number,
): Transport {
  watchConnectErrors();
  return {
    answerRules: { maxResponseBytes, isDecoded: true, isMock: false },
    async send(request, deadline) {
      const abort = new AbortController();
      let head: Pick<Answer, 'status' | 'headers'> | undefined;
      const exchange = async (): Promise<Exchange> => {
        let response: Response;
        try {
          const { origin, target, method, headers, body } = request;
          response = await fetch(`${origin}${target}`, {
            method,
            headers,
            ...toBodyInit(method, body),
            redirect: 'manual',
            signal: abort.signal,
          });
          if (typeof response?.status !== 'number')
            throw new TypeError('fetch returned no Response');
          head = { status: response.status, headers: readHeaders(response.headers) };
        } catch (cause) {
          const reason = isUnreadableAnswer(cause) ? 'unusable' : 'connection';
          const sent = !isConnectFailure(cause, request.origin);
          return { kind: 'failure', sent, reason, cause };
        }
        return { kind: 'answer', ...head, ...(await readBody(response, maxResponseBytes)) };
      };
      // Settles at the deadline even if fetch ignores its signal.
      const ended = await deadline.race(exchange());
      // Ends the connection of a body that was not read to its end.
      abort.abort();
      if (ended !== undefined) return ended;
      if (head === undefined) return { ...GIVEN_UP, sent: true };
      const bodyFailure = { reason: 'given-up' } as const;
      return { kind: 'answer', ...head, body: new Uint8Array(0), bodyFailure };
    },
    async destroy() {},
  };
}

/**
 * When a kept connection breaks, some runtimes' fetch sends a request again by itself: Deno and older versions of Bun
 * even a POST. A payment could be created twice. Deno can't send a stream again; Bun can, but not on a connection that
 * it does not keep. Elsewhere the body stays text, which is sent with its length.
 */
function toBodyInit(method: string, body: string | undefined): RequestInit {
  const init: RequestInit = body === undefined ? {} : { body };
  if (method === 'GET' || method === 'HEAD') return init;
  if ('Deno' in globalThis) return { body: new Blob([body ?? '']).stream(), duplex: 'half' };
  return 'Bun' in globalThis ? { ...init, keepalive: false } : init;
}

function readHeaders(headers: Headers): ResponseHeaders {
  const record = Object.fromEntries<string | string[]>(headers);
  const cookies = headers.getSetCookie();
  if (cookies.length > 1) record['set-cookie'] = cookies;
  return record;
}

/** Reads a body of at most `maxBytes`. One that can't be read never counts as empty. */
async function readBody(response: Response, maxBytes: number) {
  const chunks: Uint8Array[] = [];
  const read = (bodyFailure?: BodyFailure) => ({ body: Buffer.concat(chunks), bodyFailure });
  let size = 0;
  try {
    const { body, bodyUsed } = response;
    if (bodyUsed || body?.locked) return read({ reason: 'used' });
    // Not undefined, as of a test's stub.
    if (body === null) return read();
    for await (const chunk of body as AsyncIterable<Uint8Array>) {
      // The beginning of a body that is too large is kept: it shows whether the body is a page.
      chunks.push(chunk.subarray(0, maxBytes - size));
      size += chunk.byteLength;
      if (size > maxBytes) return read({ reason: 'too-large' });
    }
    return read();
  } catch (cause) {
    return read({ reason: 'lost', cause });
  }
}
