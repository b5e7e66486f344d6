import { describeValue } from '../../protocol/describe-value.js';
import type { Deadline } from '../deadline.js';
import { isConnectPhaseError, isUnreadableAnswer } from './error-code.js';
import type {
  Answer,
  BodyFailure,
  Exchange,
  PreparedRequest,
  ResponseHeaders,
  Transport,
} from './transport.js';

/**
 * Sends by `fetch`. It does not say when a request left this machine, so only failures that can't come
 * later than connecting count as not sent.
 */
export function createFetchTransport(
  fetch: typeof globalThis.fetch,
  maxResponseBytes: number,
): Transport {
  return {
    send(request, deadline) {
      return new FetchExchange(fetch, request, maxResponseBytes).run(deadline);
    },
    async destroy() {},
  };
}

/** One request by fetch. Settles at the deadline even where fetch ignores its signal. */
class FetchExchange {
  readonly #fetch: typeof globalThis.fetch;
  readonly #request: PreparedRequest;
  readonly #maxBytes: number;
  readonly #abort = new AbortController();
  #response: Response | undefined;

  constructor(fetch: typeof globalThis.fetch, request: PreparedRequest, maxBytes: number) {
    this.#fetch = fetch;
    this.#request = request;
    this.#maxBytes = maxBytes;
  }

  async run(deadline: Deadline): Promise<Exchange> {
    // Only a fetch that was not called yet can be known not to have sent anything.
    if (deadline.gaveUp !== undefined) return { kind: 'failure', sent: false, reason: 'given-up' };
    const exchange = await deadline.race(this.#exchange());
    if (exchange !== undefined) return exchange;
    this.#abort.abort();
    return this.#response === undefined
      ? { kind: 'failure', sent: true, reason: 'given-up' }
      : this.#answer(this.#response, new Uint8Array(0), { reason: 'given-up' });
  }

  async #exchange(): Promise<Exchange> {
    try {
      // Without `this`: some runtimes refuse a fetch that is called as a method.
      const { origin, target, method, headers, body } = this.#request;
      const send = this.#fetch;
      const response = await send(`${origin}${target}`, {
        method,
        headers: toPairs(headers),
        ...toBodyInit(method, body),
        redirect: 'manual',
        signal: this.#abort.signal,
      });
      assertResponse(response);
      this.#response = response;
    } catch (error) {
      const reason = isUnreadableAnswer(error) ? 'unusable' : 'connection';
      return { kind: 'failure', sent: !isConnectPhaseError(error), reason, cause: error };
    }
    return this.#readBody(this.#response);
  }

  async #readBody(response: Response): Promise<Answer> {
    // The answer to a HEAD tells a length and has no body.
    const announced = Number(response.headers.get('content-length'));
    if (this.#request.method !== 'HEAD' && announced > this.#maxBytes) {
      return this.#refuseLargeBody(response);
    }
    const chunks: Uint8Array[] = [];
    let size = 0;
    try {
      for await (const chunk of (response.body ?? []) as AsyncIterable<Uint8Array>) {
        size += chunk.length;
        if (size > this.#maxBytes) break;
        chunks.push(chunk);
      }
    } catch (cause) {
      return this.#answer(response, new Uint8Array(0), { reason: 'lost', cause });
    }
    if (size > this.#maxBytes) return this.#refuseLargeBody(response);
    return this.#answer(response, Buffer.concat(chunks, size), undefined);
  }

  #refuseLargeBody(response: Response): Answer {
    this.#abort.abort();
    return this.#answer(response, new Uint8Array(0), { reason: 'too-large' });
  }

  #answer(response: Response, body: Uint8Array, bodyFailure: BodyFailure | undefined): Answer {
    return {
      kind: 'answer',
      status: response.status,
      headers: toRecord(response.headers),
      body,
      bodyFailure,
    };
  }
}

// Such as a stub that nobody told what to return.
function assertResponse(value: unknown): asserts value is Response {
  const response = value as Partial<Response> | null | undefined;
  if (typeof response?.status === 'number' && typeof response.headers?.get === 'function') return;
  throw Object.assign(new Error(`fetch returned ${describeValue(value)}, not a Response`), {
    code: 'NOT_A_RESPONSE',
  });
}

/**
 * Deno's fetch sends a request a second time by itself when a connection that was kept breaks, also a
 * POST: a payment could be created twice. A body that is a stream it can't send again. Elsewhere the
 * body stays text, which goes out with its length.
 */
function toBodyInit(method: string, body: string | undefined): RequestInit {
  const repeats = 'Deno' in globalThis && method !== 'GET' && method !== 'HEAD';
  if (repeats) return { body: new Blob([body ?? '']).stream(), duplex: 'half' };
  return body === undefined ? {} : { body };
}

function toPairs(headers: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    pairs.push([headers[index] as string, headers[index + 1] as string]);
  }
  return pairs;
}

function toRecord(headers: Headers): ResponseHeaders {
  const record: Record<string, string | string[]> = {};
  headers.forEach((value, name) => {
    record[name] = value;
  });
  // Missing in older implementations of fetch, which join the cookies by commas.
  const cookies = (headers as Partial<Headers>).getSetCookie?.();
  if (cookies !== undefined && cookies.length > 1) record['set-cookie'] = cookies;
  return record;
}
