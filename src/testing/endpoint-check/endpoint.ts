import { performance } from 'node:perf_hooks';
import type { BodyHold, CallbackSender } from '../../mock-server/callbacks/deliver.js';
import type { SignedRequest } from './signer.js';

/** What came back. */
export interface Answer {
  /** HTTP status; absent when no whole answer came. */
  readonly status?: number;
  /** Why none came. */
  readonly failure?: string;
  readonly latencyMs: number;
  /** Epoch milliseconds. */
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** The `Date` header. */
  readonly date?: string | undefined;
}

/** How long a server may take to accept the connections that were made to it. */
const ACCEPT_MS = 20;

/** A server of one thread takes the next connection when the first has its answer. */
const CONNECT_MS = 200;

/** The endpoint under check. */
export class Endpoint {
  readonly #url: string;
  readonly #timeoutMs: number;
  readonly #sender: CallbackSender;

  constructor(sender: CallbackSender, options: { url: string; timeoutMs: number }) {
    this.#sender = sender;
    this.#url = options.url;
    this.#timeoutMs = options.timeoutMs;
  }

  /** Never rejects: no answer is an answer too. */
  post(request: SignedRequest): Promise<Answer> {
    return this.#post(request);
  }

  /**
   * Sends copies on connections of their own. Their bodies go together once all have connected, or
   * a while after the first has: connecting takes many times longer than a handler does, and would
   * put them in a row.
   */
  postAtOnce(request: SignedRequest, copies: number): Promise<Answer[]> {
    let missing = copies;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const posts = Array.from({ length: copies }, async () => {
      let isCounted = false;
      const onConnected = (): void => {
        if (isCounted) return;
        isCounted = true;
        if (missing === copies) setTimeout(release, CONNECT_MS);
        missing -= 1;
        if (missing === 0) setTimeout(release, ACCEPT_MS);
      };
      const answer = await this.#post(request, { onConnected, released });
      // One that could not connect must not hold up the others.
      onConnected();
      return answer;
    });
    return Promise.all(posts);
  }

  async #post({ headers, body }: SignedRequest, hold?: BodyHold): Promise<Answer> {
    let date: string | undefined;
    const sentAtMs = Date.now();
    const startedMs = performance.now();
    const result = await this.#sender.post({
      url: this.#url,
      headers,
      body,
      hold,
      onHeaders: (received) => {
        date = received.date;
      },
    });
    const times = {
      sentAtMs,
      latencyMs: performance.now() - startedMs,
      answeredAtMs: Date.now(),
    };
    if (result.outcome === 'failed') return { ...times, failure: result.errorCode };
    if (result.outcome === 'timed-out') {
      return { ...times, failure: `none within ${this.#timeoutMs} ms` };
    }
    return { ...times, status: result.response.status, date };
  }
}

/** The Date header is cut to whole seconds and may be a second old, so less can't be told. */
const CLOCK_DIFFERENCE_MS = 2_000;

/** Says when the endpoint's clock is not this machine's; otherwise empty. */
export function describeClock({ date, sentAtMs, answeredAtMs }: Answer): string {
  const dateMs = Date.parse(date ?? '');
  const aheadMs = dateMs - answeredAtMs;
  const behindMs = sentAtMs - (dateMs + 1_000);
  const hint = 'set the clock that is wrong before you judge this check';
  if (aheadMs > CLOCK_DIFFERENCE_MS) {
    return `; its clock (the Date header) is ${Math.round(aheadMs / 1000)} s ahead of this machine's: ${hint}`;
  }
  if (behindMs > CLOCK_DIFFERENCE_MS) {
    return `; its clock (the Date header) is ${Math.round(behindMs / 1000)} s behind this machine's: ${hint}`;
  }
  return '';
}
