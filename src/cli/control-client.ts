import type { ControlError } from '../mock-server/control/control-types.js';
import { trimEnd } from '../protocol/plain-text.js';
import { text } from './command.js';
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

/** A call of the control interface. */
export interface ControlCall {
  /** @default 'GET' */
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Below `/_mock/`, for example `['payments', referenceNumber]`; each part is encoded. */
  readonly path: readonly string[];
  readonly body?: unknown;
  /**
   * The limit for the whole call.
   * @default 10_000
   */
  readonly timeoutMs?: number;
}

/** The limit for a call that waits until the merchant's endpoint has answered callbacks. */
const CALLBACK_TIMEOUT_MS = 600_000;

/** Calls the control interface of a mock. */
export class ControlClient {
  /** Its address, for messages. */
  readonly base: string;

  constructor(url: URL) {
    // The address of the dashboard works too.
    const path = trimEnd(url.pathname, '/').replace(/\/_mock$/, '');
    this.base = `${url.origin}${path}`;
  }

  /** Resolves with the mock's answer. */
  async call<Answer>({
    path,
    body,
    method = 'GET',
    timeoutMs = 10_000,
  }: ControlCall): Promise<Answer> {
    const url = `${this.base}/_mock/${path.map(encodeURIComponent).join('/')}`;
    try {
      const response = await fetch(url, {
        method,
        redirect: 'manual',
        headers: body === undefined ? {} : { 'content-type': 'application/json' },
        body: body === undefined ? null : JSON.stringify(body),
        signal: AbortSignal.timeout(timeoutMs),
      });
      return this.#read(response, await response.text()) as Answer;
    } catch (error) {
      throw this.#explain(error as Error, timeoutMs);
    }
  }

  get<Answer>(path: ControlCall['path']): Promise<Answer> {
    return this.call({ path });
  }

  /** For a call that waits for callbacks. */
  post<Answer>(path: ControlCall['path'], body: unknown): Promise<Answer> {
    return this.call({ method: 'POST', path, body, timeoutMs: CALLBACK_TIMEOUT_MS });
  }

  /** Another server may answer anything, and what a command does with that could be anything too. */
  #read({ status, ok, headers }: Response, body: string): unknown {
    const answer = parseJsonOrText(body);
    if (ok && headers.get('x-merchant-payments') === 'mock') return answer;
    if (status >= 400 && isControlError(answer)) throw new Error(answer.message);
    throw new Error(
      `the server at ${this.base} is not the mock of merchant-payments (HTTP ${status}); give the address of the mock with --mock-url`,
    );
  }

  #explain(error: Error, timeoutMs: number): Error {
    if (error.name === 'TimeoutError') {
      return new Error(
        `${this.base} did not answer within ${formatDuration(timeoutMs)}; it may have done what was requested anyway`,
      );
    }
    // fetch's own error does not say why it failed; the cause does.
    if (!(error instanceof TypeError)) return error;
    const { code, message } = (error.cause ?? error) as NodeJS.ErrnoException;
    if (code === 'ECONNREFUSED') return new Error(noAnswer(this.base));
    return new Error(
      `the connection to ${this.base} failed with ${code ?? message}; check that a mock runs there, or give its address with --mock-url`,
    );
  }
}

/** The message for a mock that does not run. */
export const noAnswer = (base: string): string =>
  `can't reach the mock at ${base}. Start it with \`npx merchant-payments mock\`, or give its address with --mock-url`;

function isControlError(answer: unknown): answer is ControlError {
  const { code, message } = (answer ?? {}) as Partial<Record<string, unknown>>;
  return typeof code === 'string' && typeof message === 'string';
}
