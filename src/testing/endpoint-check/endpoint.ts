import type { AnswerHeaders, CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { MIN_SHARED_WITH_CALLBACK, Redactor } from '../../protocol/redaction.js';
import type { Answer } from './answer.js';
import type { ResolvedCheckOptions } from './options.js';

/** How much of an answer is shown. */
const MAX_QUOTE = 200;
/** How much of the end of a large body an answer must not repeat: the rest is spaces. */
const MAX_SENT = 4096;

/** A request to the endpoint, before it is sent. */
export interface SignedRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** Replaces a header, or leaves it out. */
export function withHeader(
  { headers, body }: SignedRequest,
  name: string,
  value?: string,
): SignedRequest {
  const { [name]: _given, ...others } = headers;
  return { headers: value === undefined ? others : { ...others, [name]: value }, body };
}

/** The endpoint under check. */
export class Endpoint {
  readonly #sender: CallbackSender;
  readonly #options: ResolvedCheckOptions;
  readonly #redactor: Redactor;

  constructor(sender: CallbackSender, options: ResolvedCheckOptions) {
    this.#sender = sender;
    this.#options = options;
    const { search } = new URL(options.url);
    const secrets = [options.signingSecret.export().toString(), search.slice(1)];
    this.#redactor = new Redactor(secrets.filter((secret) => secret !== ''));
  }

  /** Never rejects: a missing answer is a result too. */
  async post({ headers, body }: SignedRequest): Promise<Answer> {
    const { url, timeoutMs, clock, merchantPaymentReference: given } = this.#options;
    let received: AnswerHeaders = {};
    const startedMs = clock.elapsedMs();
    const onHeaders = (answered: AnswerHeaders): void => {
      received = answered;
    };
    const result = await this.#sender.post({ url, headers, body, onHeaders });
    const latencyMs = clock.elapsedMs() - startedMs;
    if (result.outcome === 'timed-out')
      return { latencyMs, failure: `none within ${timeoutMs} ms` };
    if (result.outcome === 'failed') {
      return { latencyMs, failure: result.errorCode, failureCode: result.errorCode };
    }
    const { status, body: text } = result.response;
    return {
      latencyMs,
      status,
      location: received['location']?.toString().replace(/[?#].*/s, ''),
      mayLackOrder: status === 503 && received['retry-after'] !== undefined && given === undefined,
      asksForLogin: received['www-authenticate'] !== undefined,
      quote: () => this.#quote(text, { headers, body }),
    };
  }

  postAtOnce(request: SignedRequest, copies: number): Promise<Answer[]> {
    const all = Array.from({ length: copies }, () => request);
    return this.#sender.atOnce(copies, () => Promise.all(all.map((one) => this.post(one))));
  }

  /** Makes the body of an answer safe to show. */
  #quote(text: string, { headers, body }: SignedRequest): string {
    const end = Buffer.from(body.slice(-MAX_SENT)).toString();
    const sent = [...Object.values(headers), end].join('\n');
    // Before markup is removed: a part of a secret could look like markup.
    const [redacted = ''] = this.#redactor.redactAll([text], sent, MIN_SHARED_WITH_CALLBACK);
    const shown = redacted
      .replace(/<(style|script)\b[\s\S]*?(<\/\1>|$)|<[^>]*>?/gi, ' ')
      .replaceAll(/\s+/g, ' ')
      .trim();
    return shown.length > MAX_QUOTE ? `${shown.slice(0, MAX_QUOTE)}…` : shown;
  }
}
