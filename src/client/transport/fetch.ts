import type { Deadline } from '../deadline.js';
import { isConnectFailure, watchConnectErrors } from './connect-failure.js';
import { isUnreadableAnswer } from './error-code.js';
import { type AnswerHead, readBody, readHead } from './fetched-answer.js';
import type { Answer, BodyFailure, Exchange, PreparedRequest, Transport } from './transport.js';

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
  #head: AnswerHead | undefined;

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
    return this.#head === undefined
      ? { kind: 'failure', sent: true, reason: 'given-up' }
      : toAnswer(this.#head, { reason: 'given-up' });
  }

  async #exchange(): Promise<Exchange> {
    let response: Response;
    try {
      // Without `this`: some runtimes refuse a fetch that is called as a method.
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
    // The answer to a HEAD tells a length and has no body.
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
