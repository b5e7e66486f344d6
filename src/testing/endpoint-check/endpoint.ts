import { performance } from 'node:perf_hooks';
import type { BodyHold, CallbackSender } from '../../mock-server/callbacks/deliver.js';
import type { SignedRequest } from './callbacks.js';
import type { Answer } from './verdict.js';

/** How long a server may take to accept the connections that were made to it. */
const ACCEPT_MS = 20;
/** A single-threaded server takes the next connection when the first has its answer. */
const CONNECT_MS = 200;

/** The endpoint under check. */
export class Endpoint {
  readonly #sender: CallbackSender;
  readonly #options: { readonly url: string; readonly timeoutMs: number };

  constructor(sender: CallbackSender, options: { url: string; timeoutMs: number }) {
    this.#sender = sender;
    this.#options = options;
  }

  /** Never rejects: a missing answer is a result too. */
  async post({ headers, body }: SignedRequest, hold?: BodyHold): Promise<Answer> {
    const { url, timeoutMs } = this.#options;
    let date: string | undefined;
    const sentAtMs = Date.now();
    const startedMs = performance.now();
    const onHeaders = (received: { readonly date?: string | undefined }): void => {
      date = received.date;
    };
    const result = await this.#sender.post({ url, headers, body, hold, onHeaders });
    const latencyMs = performance.now() - startedMs;
    const times = { sentAtMs, latencyMs, answeredAtMs: Date.now() };
    if (result.outcome === 'failed') return { ...times, failure: result.errorCode };
    if (result.outcome === 'timed-out') return { ...times, failure: `none within ${timeoutMs} ms` };
    return { ...times, status: result.response.status, date };
  }

  /**
   * Sends copies, each on its own connection. Their bodies go together once all have connected, or a
   * while after the first has: connecting takes many times longer than a handler does, and would put
   * them in a row.
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
      const answer = await this.post(request, { onConnected, released });
      // One that could not connect must not hold up the others.
      onConnected();
      return answer;
    });
    return Promise.all(posts);
  }
}

/** The Date header is cut to whole seconds and may be a second old. */
const CLOCK_DIFFERENCE_MS = 2_000;

/** Says when the endpoint's clock is not this machine's; otherwise empty. */
export function describeClock({ date, sentAtMs, answeredAtMs }: Answer): string {
  const dateMs = Date.parse(date ?? '');
  const aheadMs = dateMs - answeredAtMs;
  const behindMs = sentAtMs - (dateMs + 1_000);
  const offMs = Math.max(aheadMs, behindMs);
  if (!(offMs > CLOCK_DIFFERENCE_MS)) return '';
  const side = aheadMs > behindMs ? 'ahead of' : 'behind';
  return `; its clock (the Date header) is ${Math.round(offMs / 1000)} s ${side} this machine's: correct the wrong clock before you judge this check`;
}
