import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import * as z from 'zod/mini';
import type {
  ControlError,
  ControlEvent,
  ControlPayment,
  ControlPaymentPage,
} from '../mock-server/control/control-types.js';
import { fields, run, type ShapeOf } from '../protocol/schema.js';
import { trimEnd } from '../protocol/trim-end.js';
import { text } from './command.js';
import { exchange, openStream } from './network.js';
import { formatDuration, parseHttpUrl } from './option-values.js';
import type { Terminal } from './output.js';

const DEFAULT_MOCK_URL = 'http://127.0.0.1:4242';

const HELP = `The address of the running mock. Default: MERCHANT_PAYMENTS_MOCK_URL, otherwise ${DEFAULT_MOCK_URL}`;

/** `--mock-url` of the command that can use the service instead. */
export const mockUrlOfServiceOption = text({ value: 'url', help: HELP });

/** `--mock-url` of the commands that only use a running mock. */
export const mockUrlOption = text({
  value: 'url',
  help: `${HELP}. MERCHANT_PAYMENTS_BASE_URL is ignored.`,
});

/** Help for an argument that names a payment. */
export const PAYMENT_WORD =
  "Name a payment by its reference number, by the beginning of it if no other payment has the same, or by the merchant's own reference, which names the newest of several payments.";

/** What selects the mock. */
export interface MockCall {
  readonly options: { readonly 'mock-url': string | undefined };
  readonly terminal: Pick<Terminal, 'env'>;
}

/** Returns the address of the mock that `--mock-url` or the environment gives. */
export function givenMockUrl({ options, terminal }: MockCall): string | undefined {
  // An empty variable counts as unset.
  return options['mock-url'] ?? (terminal.env['MERCHANT_PAYMENTS_MOCK_URL'] || undefined);
}

/**
 * Returns a client for the control interface of the mock that `--mock-url` or the environment names.
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
  /** @default 'GET' */
  readonly method?: 'POST' | 'DELETE';
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
export const CALLBACK_TIMEOUT_MS = 600_000;

const DEFAULT_TIMEOUT_MS = 10_000;
/** The longest answer, and the longest event, that is read. */
export const MAX_ANSWER_BYTES = 67_108_864;

/** Calls the control interface of a running mock, each call over a new connection. */
export class ControlClient {
  /** The address of the mock. */
  readonly base: string;

  readonly #maxBytes: number;

  constructor(url: URL, maxAnswerBytes = MAX_ANSWER_BYTES) {
    this.#maxBytes = maxAnswerBytes;
    // The address of the dashboard works too.
    const path = trimEnd(url.pathname, '/').replace(/\/_mock$/, '');
    this.base = `${url.origin}${path}`;
  }

  /**
   * Resolves with the mock's answer.
   *
   * @throws {ControlRefusal} when the mock answers with an error
   * @throws {Error} with a message of one line, when there is no answer in time, or it is not a mock's
   */
  async call<Answer>(call: ControlCall): Promise<Answer> {
    const { status, headers, text } = await this.#send(call);
    const answer = parseJson(text);
    if (status >= 200 && status < 300 && isOfMock(headers)) return answer as Answer;
    const refusal = run(controlError, answer);
    if (status >= 400 && refusal.findings === undefined) throw new ControlRefusal(refusal.output);
    throw this.#notAMock(status);
  }

  /**
   * Resolves with the events of the mock from now on. They end with an error when `signal` is aborted or the
   * mock ends.
   *
   * @throws {Error} with a message of one line, when there is no mock
   */
  async openEvents(signal: AbortSignal): Promise<AsyncIterable<ControlEvent>> {
    const response = await openStream(this.#toUrl({ path: ['events'] }), signal).catch((error) => {
      throw this.#failure(error);
    });
    if (response.statusCode === 200 && isOfMock(response.headers)) {
      return this.#readEvents(response);
    }
    response.destroy();
    throw this.#notAMock(response.statusCode ?? 0);
  }

  async *#readEvents(response: IncomingMessage): AsyncGenerator<ControlEvent> {
    try {
      for await (const block of splitBlocks(response, this.#maxBytes)) {
        const [, data] = /^data: (.*)$/m.exec(block) ?? [];
        if (data !== undefined) yield JSON.parse(data) as ControlEvent;
      }
    } catch (cause) {
      throw new Error(`the connection to ${this.base} was lost`, { cause });
    }
    throw new Error(`the mock at ${this.base} has ended`);
  }

  async #send({ body, ...call }: ControlCall): Promise<TextAnswer> {
    const { method = 'GET', timeoutMs = DEFAULT_TIMEOUT_MS } = call;
    const deadline = AbortSignal.timeout(timeoutMs);
    const received = await exchange(this.#toUrl(call), {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      signal: deadline,
      maxBytes: this.#maxBytes + 1,
    }).catch((error: NodeJS.ErrnoException) => {
      throw deadline.aborted ? this.#timeout(timeoutMs) : this.#failure(error);
    });
    if (received.body.byteLength <= this.#maxBytes) {
      const { status, headers } = received;
      return { status, headers, text: received.body.toString() };
    }
    throw new Error(`the answer is longer than ${this.#maxBytes} bytes; ask for less with --limit`);
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

  #notAMock(status: number): Error {
    return new Error(
      `the server at ${this.base} is not the mock of merchant-payments (HTTP ${status}); give the address of the mock with --mock-url`,
    );
  }

  #timeout(timeoutMs: number): Error {
    return new Error(
      `${this.base} did not answer within ${formatDuration(timeoutMs)}; it may have done what was requested anyway`,
    );
  }
}

interface TextAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
}

/** Another server may answer anything, and what a command does with that could be anything too. */
const isOfMock = (headers: IncomingHttpHeaders): boolean =>
  headers['x-merchant-payments'] === 'mock';

/** The message for a mock that does not run. */
export const noAnswer = (base: string): string =>
  `there is no answer at ${base}: start the mock with \`npx merchant-payments mock\`, or give its address with --mock-url`;

/** Splits a stream at empty lines. */
async function* splitBlocks(response: IncomingMessage, maxBytes: number): AsyncGenerator<string> {
  let text = '';
  for await (const chunk of response.setEncoding('utf8')) {
    text += chunk;
    const blocks = text.split('\n\n');
    text = blocks.pop() ?? '';
    if (text.length > maxBytes) throw new Error('the event is too long');
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

const TEXT = 'a string';
const controlError = fields(
  {
    code: z.string(TEXT),
    message: z.string(TEXT),
    option: z.optional(z.string(TEXT)),
  } satisfies ShapeOf<ControlError>,
  'an object with code and message',
);

const SHOWN_CANDIDATES = 10;

/**
 * Finds a payment by its reference number, by the merchant's own reference (the newest payment), or by the
 * beginning of exactly one reference number.
 *
 * @throws {Error} when no payment matches, or several do
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
    `"${word}" matches ${candidates.length} payments; give one reference number: ${shown.join('; ')}`,
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
      path: ['payments'],
      query: { search: word, limit: 1_000, before },
    });
    found.push(...page.payments);
    before = page.next;
  } while (before !== undefined);
  return found;
}
