import { isIP, Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher } from 'undici';
import { fieldOf, ownFields } from '../../protocol/own-fields.js';
import { timers } from '../../protocol/timers.js';
import type { DeliveryAttempt } from './delivery.js';

/** The result of one request. */
export type PostResult =
  | {
      readonly outcome: 'acknowledged' | 'refused';
      readonly response: NonNullable<DeliveryAttempt['response']>;
    }
  | { readonly outcome: 'failed'; readonly errorCode: string }
  | { readonly outcome: 'timed-out' };

interface CallbackPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Called with the answer's headers, before its body is read. */
  readonly onHeaders?: ((headers: AnswerHeaders) => void) | undefined;
  readonly hold?: RequestHold | undefined;
}

/** Headers of an answer, their names in lower case. */
export type AnswerHeaders = Dispatcher.ResponseData['headers'];

/** With more connections at once, this process would be too slow for them, and blame the endpoint. */
const MOST_AT_ONCE = 200;

/** An answer's body is only for the log. */
const MAX_ANSWER_BYTES = 4096;

// Real time: with a manual clock or fake timers it would wait forever.
const startRealTimer = (run: () => void, milliseconds: number): (() => void) => {
  const timer = timers.setTimeout(run, milliseconds);
  return () => timers.clearTimeout(timer);
};

/**
 * Sends callbacks, and can abort those that are under way. It uses undici and its own socket, so that the msw or nock
 * of a test does not take them.
 *
 * Every attempt opens a new connection: the endpoint could close a reused one just as an attempt starts,
 * and the log would show a failure that is not the endpoint's.
 */
export class CallbackSender {
  readonly #timeoutMs: number;
  readonly #startTimer: typeof startRealTimer;
  readonly #inFlight = new Set<CallbackExchange>();
  readonly #waiting: { readonly begin: () => void; readonly abort: () => void }[] = [];

  constructor(timeoutMs: number, startTimer = startRealTimer) {
    this.#timeoutMs = timeoutMs;
    this.#startTimer = startTimer;
  }

  /** Never rejects: a failure is a result. */
  post(callback: CallbackPost): Promise<PostResult> {
    return this.#send('POST', callback);
  }

  /** As {@link CallbackSender.post}. */
  get(url: string): Promise<PostResult> {
    return this.#send('GET', { url, headers: {}, body: new Uint8Array() });
  }

  #send(method: 'GET' | 'POST', callback: CallbackPost): Promise<PostResult> {
    return new Promise((resolve) => {
      const begin = () => {
        const exchange = new CallbackExchange(callback, (result) => {
          cancelTimer();
          this.#inFlight.delete(exchange);
          resolve(result);
          this.#waiting.shift()?.begin();
        });
        const cancelTimer = this.#startTimer(
          () => exchange.end({ outcome: 'timed-out' }),
          this.#timeoutMs,
        );
        this.#inFlight.add(exchange);
        void exchange.send(method);
      };
      if (this.#inFlight.size < MOST_AT_ONCE) begin();
      else this.#waiting.push({ begin, abort: () => resolve(ABORTED) });
    });
  }

  /** Aborts every attempt under way; each ends as `failed`. */
  abort(): void {
    for (const { abort } of this.#waiting.splice(0)) abort();
    for (const exchange of this.#inFlight) exchange.end(ABORTED);
  }
}

const ABORTED: PostResult = { outcome: 'failed', errorCode: 'Error' };

/** One request and its answer, on its own connection. */
class CallbackExchange implements Dispatcher.DispatchHandler {
  readonly #callback: CallbackPost;
  readonly #settle: (result: PostResult) => void;
  readonly #chunks: Uint8Array[] = [];
  #client: Client | undefined;
  #socket: Socket | undefined;
  #hasEnded = false;
  #status = 0;
  #retryAfter: string | undefined;
  #size = 0;

  constructor(callback: CallbackPost, settle: (result: PostResult) => void) {
    this.#callback = ownFields(callback);
    this.#settle = settle;
  }

  async send(method: 'GET' | 'POST'): Promise<void> {
    const { url, headers, body, hold } = this.#callback;
    try {
      const { Client } = await loadClient();
      if (this.#hasEnded) return;
      const { origin, pathname, search } = new URL(url);
      this.#client = new Client(origin, {
        connect: (options, callback) => {
          this.#socket = openSocket(options, hold, callback);
        },
        // The exchange has a deadline.
        headersTimeout: 0,
        bodyTimeout: 0,
      });
      this.#client.dispatch(
        {
          method,
          path: pathname + search,
          headers,
          body: method === 'GET' ? null : body,
          reset: true,
        },
        this,
      );
    } catch (error) {
      this.onResponseError(undefined, error as Error);
    }
  }

  /** Settles with the result, unless there was one before, and cuts the connection. */
  end(result: PostResult): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#settle(result);
    void this.#client?.destroy();
    // undici leaves one open that is still connecting.
    this.#socket?.destroy();
  }

  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number, headers: AnswerHeaders): void {
    // 103 Early Hints precedes the answer.
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = headers['retry-after']?.toString();
    this.#callback.onHeaders?.(headers);
  }

  onResponseData(_controller: unknown, chunk: Uint8Array): void {
    this.#chunks.push(chunk);
    this.#size += chunk.byteLength;
    if (this.#size >= MAX_ANSWER_BYTES) this.onResponseEnd();
  }

  // An answer counts when it is complete or exceeds the limit. Before that, a broken connection or a timeout
  // means no answer.
  onResponseEnd(): void {
    const status = this.#status;
    const body = Buffer.concat(this.#chunks).subarray(0, MAX_ANSWER_BYTES).toString();
    const outcome = status >= 200 && status < 300 ? 'acknowledged' : 'refused';
    const retryAfter = this.#retryAfter;
    this.end({ outcome, response: { status, body, ...(retryAfter && { retryAfter }) } });
  }

  onResponseError(_controller: unknown, error: NodeJS.ErrnoException): void {
    const code = error.code ?? error.name;
    this.end({ outcome: 'failed', errorCode: NODE_CODES[code] ?? code });
  }
}

/** What Node says where undici has another word. */
const NODE_CODES: Readonly<Record<string, string>> = {
  UND_ERR_SOCKET: 'ECONNRESET',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'ECONNRESET',
  UND_ERR_HEADERS_OVERFLOW: 'HPE_HEADER_OVERFLOW',
  HTTPParserError: 'HPE_INVALID',
};

/** Loads the one file of undici that is needed: all of it would set the dispatcher of the global `fetch`. */
async function loadClient(): Promise<{ readonly Client: typeof Client }> {
  const file = await import('undici/lib/dispatcher/client.js').catch(() => undefined);
  return typeof file?.default === 'function' ? { Client: file.default } : import('undici');
}

/** Makes several requests go out at the same moment, however long each takes to connect. */
export interface RequestHold {
  readonly onConnected: () => void;
  /** Resolves when the request may be sent. */
  readonly released: Promise<void>;
}

// msw 3 and nock 15 replace it. If they did so before this file was loaded, their own way past it remains.
const { connect } = Socket.prototype;
interface Interceptors {
  readonly __MSW_INTERNAL_CONNECTION_CONTEXT?: { readonly run: (open: () => void) => void };
}

/** Opens a connection that the interceptors of a test do not see. The request goes out when the hold ends. */
export function openSocket(
  { hostname, port, protocol }: buildConnector.Options,
  hold: RequestHold | undefined,
  callback: buildConnector.Callback,
): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'https:';
  const socket = new Socket();
  const fail = (error: Error) => callback(error, null);
  const start = async (ready: Socket) => {
    hold?.onConnected();
    await hold?.released;
    ready.off('error', fail);
    callback(null, ready);
  };
  socket.once('error', fail).once('connect', () => {
    if (!isSecure) return void start(socket);
    // Loaded on demand: it would add to every start, and few endpoints under test use TLS.
    const tls = process.getBuiltinModule('node:tls');
    const secure = tls.connect({ socket, host, servername: isIP(host) === 0 ? host : '' });
    secure.once('error', fail).once('secureConnect', () => void start(secure));
  });
  const address = { host, port: Number(port) || (isSecure ? 443 : 80), noDelay: true };
  const past = fieldOf(
    globalThis,
    '__MSW_INTERNAL_CONNECTION_CONTEXT',
  ) as Interceptors[keyof Interceptors];
  if (past === undefined) Reflect.apply(connect, socket, [address]);
  else past.run(() => void socket.connect(address));
  return socket;
}
