import type { IncomingMessage } from 'node:http';
import type {
  ControlError,
  ControlEvent,
  ControlPayment,
  ControlPaymentPage,
} from '../mock-server/control/control-types.js';
import { text } from './command.js';
import { exchange, openStream } from './network.js';
import { formatDuration, parseHttpUrl } from './option-values.js';
import type { Terminal } from './output.js';

const DEFAULT_MOCK_URL = 'http://127.0.0.1:4242';

const HELP = `Address of the running mock. Default: MERCHANT_PAYMENTS_MOCK_URL, else ${DEFAULT_MOCK_URL}`;

/** `--mock-url` of the command that can talk to the service instead. */
export const mockUrlOfServiceOption = text({ value: 'url', help: HELP });

/** `--mock-url` of the commands that talk to a running mock alone. */
export const mockUrlOption = text({
  value: 'url',
  help: `${HELP}. MERCHANT_PAYMENTS_BASE_URL is ignored.`,
});

/** How the help says what a word for a payment is. */
export const PAYMENT_WORD =
  "A payment may be given by its reference number, by the beginning of it, as long as only one payment is meant, or by the merchant's own reference: of several the newest is meant.";

/** A call's part that says which mock is meant. */
export interface MockCall {
  readonly options: { readonly 'mock-url': string | undefined };
  readonly terminal: Pick<Terminal, 'env'>;
}

/** The address that was given for the mock, by `--mock-url` or the environment. */
export function givenMockUrl({ options, terminal }: MockCall): string | undefined {
  // An empty variable is one that was not filled in.
  return options['mock-url'] ?? (terminal.env['MERCHANT_PAYMENTS_MOCK_URL'] || undefined);
}

/**
 * A client of the control interface of the mock that `--mock-url` or the environment names.
 *
 * @throws {UsageError} when the address is not an http or https URL
 */
export function connectToMock(call: MockCall): ControlClient {
  const name = call.options['mock-url'] === undefined ? 'MERCHANT_PAYMENTS_MOCK_URL' : '--mock-url';
  return new ControlClient(parseHttpUrl(name, givenMockUrl(call) ?? DEFAULT_MOCK_URL));
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
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
  /** Behind `/_mock/`, for example `['payments', referenceNumber]`; each part is encoded. */
  readonly path: readonly string[];
  readonly query?: Readonly<Record<string, string | number | undefined>>;
  readonly body?: unknown;
  /** For the whole call. 10 s by default; more for what waits for the merchant's endpoint. */
  readonly timeoutMs?: number;
}

/** How long a call may take that waits for the merchant's endpoint to answer callbacks. */
export const CALLBACK_TIMEOUT_MS = 600_000;

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 67_108_864;

/** Calls the control interface of a running mock, each call over a new connection. */
export class ControlClient {
  /** The address of the mock. */
  readonly base: string;

  constructor(url: URL) {
    // The address of the dashboard means the same mock.
    const path = url.pathname.replace(/\/+$/, '').replace(/\/_mock$/, '');
    this.base = `${url.origin}${path}`;
  }

  /**
   * @throws {ControlRefusal} when the mock answers with an error
   * @throws {Error} in a line: there is no answer, no answer in time, or one that is not a mock's
   */
  async call<Answer>(call: ControlCall): Promise<Answer> {
    const { status, text } = await this.#send(call);
    const answer = parseJson(text);
    if (status >= 200 && status < 300 && typeof answer === 'object' && answer !== null) {
      return answer as Answer;
    }
    if (status >= 400 && isControlError(answer)) throw new ControlRefusal(answer);
    throw this.#stranger(status);
  }

  /**
   * What happens in the mock from now on. Ends with an error: `signal` was aborted, or the mock ended.
   *
   * @throws {Error} in a line, when there is no mock
   */
  async openEvents(signal: AbortSignal): Promise<AsyncIterable<ControlEvent>> {
    const response = await openStream(this.#toUrl({ path: ['events'] }), signal).catch((error) => {
      throw this.#failure(error);
    });
    if (response.headers['content-type']?.startsWith('text/event-stream')) {
      return this.#readEvents(response);
    }
    response.destroy();
    throw this.#stranger(response.statusCode ?? 0);
  }

  async *#readEvents(response: IncomingMessage): AsyncGenerator<ControlEvent> {
    try {
      for await (const block of splitBlocks(response)) {
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (data !== undefined) yield JSON.parse(data) as ControlEvent;
      }
    } catch (cause) {
      throw new Error(`the connection to ${this.base} was lost`, { cause });
    }
    throw new Error(`the mock at ${this.base} has ended`);
  }

  async #send({ body, ...call }: ControlCall): Promise<{ status: number; text: string }> {
    const { method, timeoutMs = DEFAULT_TIMEOUT_MS } = call;
    const deadline = AbortSignal.timeout(timeoutMs);
    const received = await exchange(this.#toUrl(call), {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      signal: deadline,
      maxBytes: MAX_ANSWER_BYTES + 1,
    }).catch((error: NodeJS.ErrnoException) => {
      throw deadline.aborted ? this.#timeout(timeoutMs) : this.#failure(error);
    });
    if (received.body.byteLength <= MAX_ANSWER_BYTES) {
      return { status: received.status, text: received.body.toString() };
    }
    throw new Error(
      `the answer is longer than ${MAX_ANSWER_BYTES} bytes; ask for less with --limit`,
    );
  }

  #toUrl({ path, query = {} }: Pick<ControlCall, 'path' | 'query'>): URL {
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

  #stranger(status: number): Error {
    return new Error(
      `what answers at ${this.base} is not the mock of merchant-payments (HTTP ${status}); give its address with --mock-url`,
    );
  }

  #timeout(timeoutMs: number): Error {
    return new Error(
      `${this.base} has not answered within ${formatDuration(timeoutMs)}; it may have done what it was asked to do all the same`,
    );
  }
}

/** What to do when nothing listens where the mock should be. */
export const noAnswer = (base: string): string =>
  `there is no answer at ${base}: start the mock with \`npx merchant-payments mock\`, or give its address with --mock-url`;

/** The parts between empty lines. */
async function* splitBlocks(response: IncomingMessage): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    if (text.length > MAX_ANSWER_BYTES) throw new Error('the event is too long');
    yield* blocks;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isControlError(value: unknown): value is ControlError {
  const { code, message } = (value ?? {}) as Partial<Record<keyof ControlError, unknown>>;
  return typeof code === 'string' && typeof message === 'string';
}

const SHOWN_CANDIDATES = 10;

/**
 * The payment a word means: by its reference number, as the newest of the merchant's own reference, or
 * by the beginning of exactly one reference number.
 *
 * @throws {Error} when there is none, or more than one
 */
export async function findPayment(client: ControlClient, word: string): Promise<ControlPayment> {
  const found = await searchPayments(client, word);
  const exact = found.find(({ referenceNumber }) => referenceNumber === word);
  if (exact !== undefined) return exact;
  // The list begins with the newest.
  const newest = found.find(({ merchantPaymentReference }) => merchantPaymentReference === word);
  if (newest !== undefined) return newest;
  const candidates = found.filter(({ referenceNumber }) =>
    referenceNumber.startsWith(word.toLowerCase()),
  );
  const [payment, ...others] = candidates;
  if (payment === undefined) {
    throw new Error(`the mock has no payment "${word}"; see merchant-payments payments list`);
  }
  if (others.length === 0) return payment;
  const shown = candidates.slice(0, SHOWN_CANDIDATES).map(describePayment);
  const hidden = candidates.length - shown.length;
  if (hidden > 0) shown.push(`and ${hidden} more`);
  throw new Error(
    `"${word}" can mean ${candidates.length} payments, give the reference number of one: ${shown.join('; ')}`,
  );
}

function describePayment({
  referenceNumber,
  merchantPaymentReference,
  status,
}: ControlPayment): string {
  return `${referenceNumber} (${merchantPaymentReference}, ${status})`;
}

async function searchPayments(client: ControlClient, word: string): Promise<ControlPayment[]> {
  const found: ControlPayment[] = [];
  let before: string | undefined;
  do {
    const page: ControlPaymentPage = await client.call({
      method: 'GET',
      path: ['payments'],
      query: { search: word, limit: 1_000, before },
    });
    found.push(...page.payments);
    before = page.next;
  } while (before !== undefined);
  return found;
}
