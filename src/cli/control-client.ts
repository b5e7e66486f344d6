import type { IncomingHttpHeaders } from 'node:http';
import type { ControlError } from '../mock-server/control/control-types.js';
import { trimEnd } from '../protocol/trim-end.js';
import { text } from './command.js';
import { exchange, TIMED_OUT } from './network.js';
import { formatDuration, parseHttpUrl, parseJsonOrText } from './option-values.js';
import type { Terminal } from './terminal.js';

const DEFAULT_MOCK_URL = 'http://127.0.0.1:4242';

/** `--mock-url` of the commands that use a running mock. */
export const mockUrlOption = text({
  value: 'url',
  help: `The address of the running mock. Default: MERCHANT_PAYMENTS_MOCK_URL, otherwise ${DEFAULT_MOCK_URL}. MERCHANT_PAYMENTS_BASE_URL is ignored.`,
});

/** Help for an argument that names a payment. */
export const PAYMENT_WORD =
  'Name a payment by its referenceNumber, or by its merchantPaymentReference if no other payment has the same.';

interface MockCall {
  readonly options: { readonly 'mock-url': string | undefined };
  readonly terminal: Pick<Terminal, 'env'>;
}

/** Returns a client for the control interface of the mock that `--mock-url` or the environment names. */
export function connectToMock({ options, terminal }: MockCall): ControlClient {
  const { 'mock-url': given } = options;
  if (given !== undefined) return new ControlClient(parseHttpUrl('--mock-url', given));
  const name = 'MERCHANT_PAYMENTS_MOCK_URL';
  // An empty variable counts as unset.
  return new ControlClient(parseHttpUrl(name, terminal.env[name] || DEFAULT_MOCK_URL));
}

/** The mock refused the call. */
export class ControlRefusal extends Error {
  override readonly name = 'ControlRefusal';
  /** The `code` of the ControlError. */
  readonly code: string;
  /** The field that is invalid, for example `fault.delayMs`. */
  readonly field: string | undefined;

  constructor({ code, message, option }: ControlError) {
    super(message);
    this.code = code;
    this.field = option;
  }
}

/** A call of the control interface. */
export interface ControlCall {
  /** @default 'GET' */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Below `/_mock/`, for example `['payments', referenceNumber]`; each part is encoded. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /**
   * The limit for the whole call.
   * @default 10_000
   */
  readonly timeoutMs?: number;
}

/** The limit for a call that waits until the merchant's endpoint has answered callbacks. */
const CALLBACK_TIMEOUT_MS = 600_000;

/** The longest answer that is read. */
export const MAX_ANSWER_BYTES = 67_108_864;

/** Calls the control interface of a mock. */
export class ControlClient {
  /** Its address, for messages. */
  readonly base: string;
  readonly #maxBytes: number;

  constructor(url: URL, maxAnswerBytes = MAX_ANSWER_BYTES) {
    this.#maxBytes = maxAnswerBytes;
    // The address of the dashboard works too.
    const path = trimEnd(url.pathname, '/').replace(/\/_mock$/, '');
    this.base = `${url.origin}${path}`;
  }

  /** Resolves with the mock's answer. */
  async call<Answer>(call: ControlCall): Promise<Answer> {
    const { status, headers, body } = await this.#send(call);
    const answer = parseJsonOrText(body.toString());
    if (status >= 200 && status < 300 && isOfMock(headers)) return answer as Answer;
    if (status >= 400 && isControlError(answer)) throw new ControlRefusal(answer);
    throw this.#notAMock(status);
  }

  get<Answer>(path: ControlCall['path'], query: ControlCall['query'] = {}): Promise<Answer> {
    return this.call({ path, query });
  }

  /** For a call that waits for callbacks. */
  post<Answer>(path: ControlCall['path'], body: unknown): Promise<Answer> {
    return this.call({ method: 'POST', path, body, timeoutMs: CALLBACK_TIMEOUT_MS });
  }

  async #send({ body, method = 'GET', timeoutMs = 10_000, ...call }: ControlCall) {
    const received = await exchange(this.#toUrl(call), {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      timeoutMs,
      maxBytes: this.#maxBytes + 1,
    }).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== TIMED_OUT) throw this.#failure(error);
      throw new Error(
        `${this.base} did not answer within ${formatDuration(timeoutMs)}; it may have done what was requested anyway`,
      );
    });
    if (received.body.byteLength <= this.#maxBytes) return received;
    throw new Error(`the answer is longer than ${this.#maxBytes} bytes; ask for less with --limit`);
  }

  #toUrl({ path, query = {} }: Pick<ControlCall, 'path' | 'query'>): URL {
    if (path.some((word) => /^\.\.?$/.test(word))) {
      throw new Error('an address cannot hold . or .. as a name: name it by its identifier');
    }
    const url = new URL(`${this.base}/_mock/${path.map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  #failure(error: NodeJS.ErrnoException): Error {
    if (error.code === 'ECONNREFUSED') return new Error(noAnswer(this.base));
    return new Error(
      `the connection to ${this.base} failed with ${error.code ?? error.name}; check that a mock runs there, or give its address with --mock-url`,
    );
  }

  #notAMock(status: number): Error {
    if (status === 431) return new Error('the name or the search is too long for an address');
    return new Error(
      `the server at ${this.base} is not the mock of merchant-payments (HTTP ${status}); give the address of the mock with --mock-url`,
    );
  }
}

/** Another server may answer anything, and what a command does with that could be anything too. */
const isOfMock = (headers: IncomingHttpHeaders): boolean =>
  headers['x-merchant-payments'] === 'mock';

/** The message for a mock that does not run. */
export const noAnswer = (base: string): string =>
  `can't reach the mock at ${base}. Start it with \`npx merchant-payments mock\`, or give its address with --mock-url`;

function isControlError(answer: unknown): answer is ControlError {
  const { code, message } = (answer ?? {}) as Partial<Record<string, unknown>>;
  return typeof code === 'string' && typeof message === 'string';
}
