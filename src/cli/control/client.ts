import { type IncomingMessage, request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import type { ControlError } from 'merchant-payments/mock-server';
import { readText } from '../arguments.js';
import type { Arguments, OptionSpec, Terminal } from '../command.js';
import { formatDuration, parseHttpUrl } from '../option-values.js';

const DEFAULT_MOCK_URL = 'http://127.0.0.1:4242';

/** `--mock-url` of the command that can talk to the service instead. */
export const mockUrlOfServiceOption: OptionSpec = {
  type: 'string',
  value: 'url',
  help: `Address of the running mock. Default: MERCHANT_PAYMENTS_MOCK_URL, else ${DEFAULT_MOCK_URL}`,
};

/** `--mock-url` of the commands that talk to a running mock alone. */
export const mockUrlOption: OptionSpec = {
  ...mockUrlOfServiceOption,
  help: `${mockUrlOfServiceOption.help}. MERCHANT_PAYMENTS_BASE_URL is ignored.`,
};

/** The address that was given for the mock, by `--mock-url` or the environment. */
export function givenMockUrl(given: Arguments, { env }: Terminal): string | undefined {
  // An empty variable is one that was not filled in.
  return readText(given, 'mock-url') ?? (env['MERCHANT_PAYMENTS_MOCK_URL'] || undefined);
}

/**
 * A client of the control interface of the mock that `--mock-url` or the environment names.
 *
 * @throws {UsageError} when the address is no http or https URL
 */
export function connectToMock(given: Arguments, terminal: Terminal): ControlClient {
  const name =
    readText(given, 'mock-url') === undefined ? 'MERCHANT_PAYMENTS_MOCK_URL' : '--mock-url';
  return new ControlClient(parseHttpUrl(name, givenMockUrl(given, terminal) ?? DEFAULT_MOCK_URL));
}

/** The mock said no. */
export class ControlRefusal extends Error {
  override readonly name = 'ControlRefusal';
  /** The `code` of the ControlError. */
  readonly code: string;

  constructor({ code, message }: ControlError) {
    super(message);
    this.code = code;
  }
}

/** The caller's signal was aborted before the mock had answered. */
export class ControlAborted extends Error {
  override readonly name = 'ControlAborted';
  readonly code = 'ABORTED';
  /** Whether the mock can have done what it was told. */
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

/** Calls the control interface of a running mock, over connections of their own. */
export class ControlClient {
  readonly #base: string;

  constructor(url: URL) {
    // Whoever copies the address of the dashboard means the same mock.
    const path = url.pathname.replace(/\/+$/, '').replace(/\/_mock$/, '');
    this.#base = `${url.origin}${path}`;
  }

  /**
   * @throws {ControlRefusal} when the mock answers with an error
   * @throws {ControlAborted} when `signal` was aborted
   * @throws {Error} in a line: nobody answers, what answers is no mock, no answer in time
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

  #send(call: ControlCall): Promise<Received> {
    const { method, body, timeoutMs = DEFAULT_TIMEOUT_MS } = call;
    const url = this.#toUrl(call);
    const payload = body === undefined ? undefined : JSON.stringify(body);
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = call.signal === undefined ? deadline : AbortSignal.any([deadline, call.signal]);
    const send = url.protocol === 'https:' ? requestHttps : requestHttp;
    return new Promise((resolve, reject) => {
      const fail = (error: NodeJS.ErrnoException): void => {
        if (call.signal?.aborted === true) reject(new ControlAborted(this.#base, outcome));
        else reject(deadline.aborted ? this.#timeout(timeoutMs) : this.#failure(error));
      };
      // Node writes the request as soon as the socket is connected.
      let outcome: ControlAborted['requestOutcome'] = 'not-sent';
      const outgoing = send(url, {
        method,
        agent: false,
        signal,
        headers: {
          accept: 'application/json',
          ...(payload === undefined
            ? {}
            : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(payload) }),
        },
      });
      outgoing.once('socket', (socket) => {
        socket.once('connect', () => {
          outcome = 'unknown';
        });
      });
      outgoing.once('error', fail);
      outgoing.once('response', (incoming) => {
        receive(incoming).then(resolve, fail);
      });
      outgoing.end(payload);
    });
  }

  #toUrl({ path, query = {} }: ControlCall): URL {
    const url = new URL(`${this.#base}/_mock/${path.map(encodeURIComponent).join('/')}`);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    return url;
  }

  #failure(error: NodeJS.ErrnoException): Error {
    if (error instanceof AnswerTooLong) return error;
    if (error.code === 'ECONNREFUSED') {
      return new Error(
        `nobody answers at ${this.#base}: start it with \`npx merchant-payments mock\`, or give its address with --mock-url`,
      );
    }
    return new Error(
      `the connection to ${this.#base} failed with ${error.code ?? error.name}; see that a mock runs there, or give its address with --mock-url`,
    );
  }

  #timeout(timeoutMs: number): Error {
    return new Error(
      `${this.#base} has not answered within ${formatDuration(timeoutMs)}; what it was told may have been done all the same`,
    );
  }
}

interface Received {
  readonly status: number;
  readonly text: string;
}

class AnswerTooLong extends Error {}

async function receive(incoming: IncomingMessage): Promise<Received> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of incoming) {
    bytes += (chunk as Buffer).length;
    if (bytes > MAX_ANSWER_BYTES) {
      throw new AnswerTooLong(
        `the answer is longer than ${MAX_ANSWER_BYTES} bytes; ask for less with --limit`,
      );
    }
    chunks.push(chunk as Buffer);
  }
  return { status: incoming.statusCode ?? 0, text: Buffer.concat(chunks).toString() };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isControlError(value: unknown): value is ControlError {
  return (
    typeof value === 'object' &&
    value !== null &&
    'code' in value &&
    typeof value.code === 'string' &&
    'message' in value &&
    typeof value.message === 'string'
  );
}
