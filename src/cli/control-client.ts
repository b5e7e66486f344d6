import type {
  ControlError,
  ControlPayment,
  ControlPaymentPage,
} from '../mock-server/control/control-types.js';
import { text } from './command.js';
import { exchange } from './network.js';
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

/** The caller's signal was aborted before the mock had answered. */
export class ControlAborted extends Error {
  override readonly name = 'ControlAborted';
  readonly code = 'ABORTED';
  /** Whether the mock may have done what it was asked to do. */
  readonly requestOutcome: 'not-sent' | 'unknown';

  constructor(base: string, requestOutcome: ControlAborted['requestOutcome']) {
    super(`the call of ${base} was aborted by a signal`);
    this.requestOutcome = requestOutcome;
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
  /** Ends the call with a {@link ControlAborted}. */
  readonly signal?: AbortSignal;
}

/** How long a call may take that waits for the merchant's endpoint to answer callbacks. */
export const CALLBACK_TIMEOUT_MS = 600_000;

const DEFAULT_TIMEOUT_MS = 10_000;
const MAX_ANSWER_BYTES = 67_108_864;

/** Calls the control interface of a running mock, each call over a new connection. */
export class ControlClient {
  readonly #base: string;

  constructor(url: URL) {
    // The address of the dashboard means the same mock.
    const path = url.pathname.replace(/\/+$/, '').replace(/\/_mock$/, '');
    this.#base = `${url.origin}${path}`;
  }

  /**
   * @throws {ControlRefusal} when the mock answers with an error
   * @throws {ControlAborted} when `signal` was aborted
   * @throws {Error} in a line: there is no answer, no answer in time, or one that is not a mock's
   */
  async call<Answer>(call: ControlCall): Promise<Answer> {
    const { status, text } = await this.#send(call);
    const answer = parseJson(text);
    if (status >= 200 && status < 300 && typeof answer === 'object' && answer !== null) {
      return answer as Answer;
    }
    if (status >= 400 && isControlError(answer)) throw new ControlRefusal(answer);
    throw new Error(
      `what answers at ${this.#base} is not the mock of merchant-payments (HTTP ${status}); give its address with --mock-url`,
    );
  }

  async #send({ body, signal, ...call }: ControlCall): Promise<{ status: number; text: string }> {
    const { method, timeoutMs = DEFAULT_TIMEOUT_MS } = call;
    const deadline = AbortSignal.timeout(timeoutMs);
    // The request is written as soon as the socket is connected.
    let outcome: ControlAborted['requestOutcome'] = 'not-sent';
    const received = await exchange(this.#toUrl(call), {
      method,
      headers: {
        accept: 'application/json',
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? undefined : Buffer.from(JSON.stringify(body)),
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      maxBytes: MAX_ANSWER_BYTES + 1,
      onConnected: () => {
        outcome = 'unknown';
      },
    }).catch((error: NodeJS.ErrnoException) => {
      if (signal?.aborted) throw new ControlAborted(this.#base, outcome);
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
    const url = new URL(`${this.#base}/_mock/${path.map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  #failure(error: NodeJS.ErrnoException): Error {
    if (error.code === 'ECONNREFUSED') {
      return new Error(
        `there is no answer at ${this.#base}: start the mock with \`npx merchant-payments mock\`, or give its address with --mock-url`,
      );
    }
    return new Error(
      `the connection to ${this.#base} failed with ${error.code ?? error.name}; check that a mock runs there, or give its address with --mock-url`,
    );
  }

  #timeout(timeoutMs: number): Error {
    return new Error(
      `${this.#base} has not answered within ${formatDuration(timeoutMs)}; it may have done what it was asked to do all the same`,
    );
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
 * The payment a word means: its reference number, the merchant's own reference, or the beginning of
 * exactly one reference number.
 *
 * @throws {Error} when there is none, or more than one
 */
export async function findPayment(client: ControlClient, word: string): Promise<ControlPayment> {
  const found = await searchPayments(client, word);
  const exact = found.find(({ referenceNumber }) => referenceNumber === word);
  if (exact !== undefined) return exact;
  const byReference = found.filter((payment) => payment.merchantPaymentReference === word);
  const candidates =
    byReference.length > 0
      ? byReference
      : found.filter(({ referenceNumber }) => referenceNumber.startsWith(word.toLowerCase()));
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
