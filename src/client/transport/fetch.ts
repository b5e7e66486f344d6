import { describeValue } from '../../protocol/describe-value.js';
import type { Deadline } from '../deadline.js';
import { isConnectFailure, isUnreadableAnswer, watchConnectErrors } from './socket-errors.js';
import type {
  Answer,
  BodyFailure,
  Exchange,
  PreparedRequest,
  ResponseHeaders,
  Transport,
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
    send(request, deadline) {
      return new FetchExchange(fetch, request, maxResponseBytes).run(deadline);
    },
    async destroy() {},
  };
}

/** One request by fetch. Settles at the deadline even if fetch ignores its signal. */
class FetchExchange {
  readonly #fetch: typeof globalThis.fetch;
  readonly #request: PreparedRequest;
  readonly #maxBytes: number;
  readonly #abort = new AbortController();
  #head: AnswerHead | undefined;

  constructor(fetch: typeof globalThis.fetch, request: PreparedRequest, maxBytes: number) {
    this.#fetch = fetch;
    this.#request = request;
    this.#maxBytes = maxBytes;
  }

  async run(deadline: Deadline): Promise<Exchange> {
    // Only a fetch that was not called is certain to have sent nothing.
    if (deadline.check() !== undefined) {
      return { kind: 'failure', sent: false, reason: 'given-up' };
    }
    const exchange = await deadline.race(this.#exchange());
    if (exchange !== undefined) return exchange;
    this.#abort.abort();
    return this.#head === undefined
      ? { kind: 'failure', sent: true, reason: 'given-up' }
      : toAnswer(this.#head, { reason: 'given-up' });
  }

  async #exchange(): Promise<Exchange> {
    let response: Response;
    try {
      // Called without `this`: some runtimes refuse fetch as a method.
      const { origin, target, method, headers, body } = this.#request;
      const send = this.#fetch;
      response = await send(`${origin}${target}`, {
        method,
        headers: toPairs(headers),
        ...toBodyInit(method, body),
        redirect: 'manual',
        signal: this.#abort.signal,
      });
      this.#head = readHead(response);
    } catch (error) {
      const reason = isUnreadableAnswer(error) ? 'unusable' : 'connection';
      const sent = !isConnectFailure(error, this.#request.origin);
      return { kind: 'failure', sent, reason, cause: error };
    }
    const answer = await this.#readAnswer(response, this.#head);
    // The rest is not read: the connection ends.
    if (answer.bodyFailure?.reason === 'too-large') this.#abort.abort();
    return answer;
  }

  async #readAnswer(response: Response, head: AnswerHead): Promise<Answer> {
    // The answer to a HEAD has a length but no body.
    const announced = Number(head.headers['content-length']);
    if (this.#request.method !== 'HEAD' && announced > this.#maxBytes) {
      return toAnswer(head, { reason: 'too-large' });
    }
    return { kind: 'answer', ...head, ...(await readBody(response, this.#maxBytes)) };
  }
}

function toAnswer(head: AnswerHead, bodyFailure: BodyFailure): Answer {
  return { kind: 'answer', ...head, body: new Uint8Array(0), bodyFailure };
}

/** The oldest tested Bun that does not send a POST again; 1.3.11 does. */
const FIRST_SOUND_BUN = '1.4.5';

/**
 * When a kept connection breaks, some runtimes' fetch sends a request again by itself: Deno even a POST, Bun a PUT or
 * DELETE. A payment could be created twice. Deno can't send a stream again; Bun can, but not on a connection that it
 * does not keep. Elsewhere the body stays text, which is sent with its length.
 */
function toBodyInit(method: string, body: string | undefined): RequestInit {
  const init: RequestInit = body === undefined ? {} : { body };
  if (method === 'GET' || method === 'HEAD') return init;
  if ('Deno' in globalThis) return { body: new Blob([body ?? '']).stream(), duplex: 'half' };
  return sendsAgainInBun(method) ? { ...init, keepalive: false } : init;
}

function sendsAgainInBun(method: string): boolean {
  const { Bun: bun } = globalThis as { Bun?: { version: string } };
  if (bun === undefined) return false;
  const isOld = bun.version.localeCompare(FIRST_SOUND_BUN, 'en', { numeric: true }) < 0;
  return isOld || method === 'PUT' || method === 'DELETE';
}

function toPairs(headers: readonly string[]): [string, string][] {
  const pairs: [string, string][] = [];
  for (let index = 0; index < headers.length; index += 2) {
    pairs.push([headers[index] as string, headers[index + 1] as string]);
  }
  return pairs;
}

// A Response may be a test's stub or made by a wrapper: any part can be missing, have another type, or throw.
// None of that may hide a status that was received.

/** The status and the headers. */
interface AnswerHead {
  readonly status: number;
  readonly headers: ResponseHeaders;
}

/** @throws {Error} `NOT_A_RESPONSE` without a status: the service's answer is unknown then */
function readHead(response: Response): AnswerHead {
  const status: unknown = readStatus(response);
  if (typeof status === 'number') return { status, headers: readHeaders(response) };
  throw Object.assign(new Error(`fetch returned ${describeValue(response)}, not a Response`), {
    code: 'NOT_A_RESPONSE',
  });
}

function readStatus(response: Response | null | undefined): unknown {
  try {
    return response?.status;
  } catch {
    return undefined;
  }
}

// The headers that the client reads, for stubs that can only be asked by name.
const READ_HEADERS = [
  'cf-ray',
  'content-encoding',
  'content-length',
  'content-type',
  'date',
  'location',
  'request-id',
  'retry-after',
  'transfer-encoding',
  'x-request-id',
];

function readHeaders(response: Response): ResponseHeaders {
  const record: Record<string, string | string[]> = {};
  try {
    const headers: Partial<Headers> = response.headers;
    if (headers.forEach !== undefined) {
      headers.forEach((value, name) => {
        record[name.toLowerCase()] = String(value);
      });
    } else {
      for (const name of READ_HEADERS) {
        const value = headers.get?.(name);
        if (typeof value === 'string') record[name] = value;
      }
    }
    // Missing in older implementations of fetch, which join the cookies by commas.
    const cookies = headers.getSetCookie?.();
    if (cookies !== undefined && cookies.length > 1) record['set-cookie'] = cookies;
  } catch {}
  return record;
}

type AnswerBody = Pick<Answer, 'body' | 'bodyFailure'>;

/** Reads a body of at most `maxBytes`. One that can't be read never counts as empty. */
async function readBody(response: Response, maxBytes: number): Promise<AnswerBody> {
  try {
    const { body, bodyUsed }: Partial<Response> = response;
    if (bodyUsed === true || body?.locked === true) return failed({ reason: 'used' });
    if (body === null) return whole(new Uint8Array(0));
    const isStream = typeof body === 'object' && Symbol.asyncIterator in body;
    return isStream ? await readStream(body, maxBytes) : await readAtOnce(response, maxBytes);
  } catch (cause) {
    return failed({ reason: 'unreadable', cause });
  }
}

async function readStream(body: AsyncIterable<unknown>, maxBytes: number): Promise<AnswerBody> {
  const chunks: Uint8Array[] = [];
  const failed = (bodyFailure: BodyFailure) => ({ body: Buffer.concat(chunks), bodyFailure });
  let size = 0;
  try {
    for await (const chunk of body) {
      if (!ArrayBuffer.isView(chunk)) return failed({ reason: 'unreadable' });
      size += chunk.byteLength;
      if (size > maxBytes) return failed({ reason: 'too-large' });
      chunks.push(chunk as Uint8Array);
    }
  } catch (cause) {
    return failed({ reason: 'lost', cause });
  }
  return whole(Buffer.concat(chunks));
}

/** For a body that is not a stream: some implementations of fetch, and stubs, have only the methods. */
async function readAtOnce(response: Partial<Response>, maxBytes: number): Promise<AnswerBody> {
  let content: unknown;
  try {
    if (typeof response.arrayBuffer === 'function') content = await response.arrayBuffer();
    else if (typeof response.text === 'function') content = await response.text();
  } catch (cause) {
    return failed({ reason: 'lost', cause });
  }
  // Text or an ArrayBuffer; throws for anything else, undefined included.
  const bytes = Buffer.from(content as string);
  return bytes.length > maxBytes ? failed({ reason: 'too-large' }) : whole(bytes);
}

function whole(body: Uint8Array): AnswerBody {
  return { body, bodyFailure: undefined };
}

function failed(bodyFailure: BodyFailure): AnswerBody {
  return { body: new Uint8Array(0), bodyFailure };
}
