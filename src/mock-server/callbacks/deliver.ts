import { isIP, Socket } from 'node:net';
import type { Agent, buildConnector, Dispatcher } from 'undici';
import { timers } from '../../protocol/timers.js';
import type { DeliveryAttempt } from './delivery.js';
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
  readonly body: Uint8Array | null;
  /** Called with the answer's headers, before its body is read. */
  readonly onHeaders?: ((headers: AnswerHeaders) => void) | undefined;
}

/** Headers of an answer, their names in lower case. */
export type AnswerHeaders = Dispatcher.ResponseData['headers'];

/** How long a server may take to accept the connections that were made to it. */
const ACCEPT_MS = 20;
/** A single-threaded server accepts the next connection only when the first has its answer. */
const CONNECT_MS = 200;

/** With more connections at once, this process would be too slow for them, and blame the endpoint. */
const MOST_AT_ONCE = 200;

/** An answer's body is only for the log. */
const MAX_ANSWER_BYTES = 4096;

// Real time: with a manual clock or fake timers it would wait forever.
const startRealTimer = (run: () => void, milliseconds: number): (() => void) => {
  const timer = timers.setTimeout(run, milliseconds);
  return () => timers.clearTimeout(timer);
};

interface SenderOptions {
  readonly timeoutMs: number;
  readonly startTimer?: typeof startRealTimer;
  /**
   * Whether each request has a connection of its own.
   * @default false
   */
  readonly reset?: boolean;
}

/** Sends callbacks over one pool of connections, which the msw or nock of a test does not see. */
export class CallbackSender {
  readonly #options: SenderOptions;
  readonly #inFlight = new Set<CallbackExchange>();
  readonly #waiting: { readonly begin: () => void; readonly abort: () => void }[] = [];
  readonly #sockets = new Set<Socket>();
  #pool: Promise<Agent> | undefined;
  /** Resolves when a connection that has been opened may be used. */
  #gate: (() => Promise<void>) | undefined;

  constructor(options: SenderOptions) {
    this.#options = options;
  }

  /** Never rejects: a failure is a result. */
  post(callback: CallbackPost): Promise<PostResult> {
    return this.#send('POST', callback);
  }

  /**
   * Makes the requests of `send` go out together, each on a connection of its own: once all have connected, or a while
   * after the first has. Connecting takes much longer than a handler, and would keep them apart.
   */
  async atOnce<Result>(count: number, send: () => Promise<Result>): Promise<Result> {
    let missing = count;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    this.#gate = () => {
      if (missing === count) timers.setTimeout(release, CONNECT_MS);
      missing -= 1;
      if (missing === 0) timers.setTimeout(release, ACCEPT_MS);
      return released;
    };
    return send().finally(() => {
      this.#gate = undefined;
    });
  }

  get(url: string): Promise<PostResult> {
    return this.#send('GET', { url, headers: {}, body: null });
  }

  #send(method: 'GET' | 'POST', callback: CallbackPost): Promise<PostResult> {
    const { timeoutMs, startTimer = startRealTimer } = this.#options;
    return new Promise((resolve) => {
      const begin = () => {
        const exchange = new CallbackExchange(callback.onHeaders, (result) => {
          cancelTimer();
          this.#inFlight.delete(exchange);
          resolve(result);
          this.#waiting.shift()?.begin();
        });
        const expire = () => exchange.end({ outcome: 'timed-out' });
        const cancelTimer = startTimer(expire, timeoutMs);
        this.#inFlight.add(exchange);
        void this.#dispatch(method, callback, exchange);
      };
      if (this.#inFlight.size < MOST_AT_ONCE) begin();
      else this.#waiting.push({ begin, abort: () => resolve(ABORTED) });
    });
  }

  async #dispatch(
    method: 'GET' | 'POST',
    { url, headers, body }: CallbackPost,
    exchange: CallbackExchange,
  ): Promise<void> {
    try {
      const { origin, pathname, search } = new URL(url);
      this.#pool ??= openPool((options, callback) => this.#connect(options, callback));
      const pool = await this.#pool;
      // Lets undici see that the endpoint has closed a kept connection, so that it opens another.
      await new Promise<void>((resolve) => timers.setImmediate(resolve));
      if (exchange.hasEnded) return;
      const { reset = false } = this.#options;
      pool.dispatch({ origin, method, path: pathname + search, headers, body, reset }, exchange);
    } catch (error) {
      exchange.onResponseError(undefined, error as Error);
    }
  }

  #connect(options: buildConnector.Options, callback: buildConnector.Callback): void {
    const socket = openSocket(options, this.#options.timeoutMs, (...result) => {
      if (this.#gate === undefined) callback(...result);
      else void this.#gate().then(() => callback(...result));
    });
    this.#sockets.add(socket);
    socket.once('close', () => this.#sockets.delete(socket));
  }

  /** Aborts every request under way; each ends as `failed`. */
  abort(): void {
    for (const { abort } of this.#waiting.splice(0)) abort();
    for (const exchange of this.#inFlight) exchange.end(ABORTED);
  }

  /** Aborts as well, and closes the connections. */
  async close(): Promise<void> {
    this.abort();
    await (await this.#pool)?.destroy();
    // undici leaves those open that are still connecting.
    for (const socket of this.#sockets) socket.destroy();
  }
}

const ABORTED: PostResult = { outcome: 'failed', errorCode: 'Error' };

/** Loads the one file of undici that is needed: all of it would set the dispatcher of the global `fetch`. */
async function openPool(connect: buildConnector.connector): Promise<Agent> {
  const file = await import('undici/lib/dispatcher/agent.js').catch(() => undefined);
  const Pool = typeof file?.default === 'function' ? file.default : (await import('undici')).Agent;
  return new Pool({
    connections: MOST_AT_ONCE,
    connect,
    // An exchange has a deadline.
    headersTimeout: 0,
    bodyTimeout: 0,
  });
}

class CallbackExchange implements Dispatcher.DispatchHandler {
  readonly #onHeaders: CallbackPost['onHeaders'];
  readonly #settle: (result: PostResult) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #status = 0;
  #retryAfter: string | undefined;
  #body = Buffer.alloc(0);
  hasEnded = false;

  constructor(onHeaders: CallbackPost['onHeaders'], settle: (result: PostResult) => void) {
    this.#onHeaders = onHeaders;
    this.#settle = settle;
  }

  /** Settles with the result, unless there was one before. An answer that is not complete costs the connection. */
  end(result: PostResult): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    this.#settle(result);
    this.#controller?.abort(new Error('The exchange is over'));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.hasEnded) controller.abort(new Error('The exchange is over'));
  }

  onResponseStart(_controller: unknown, status: number, headers: AnswerHeaders): void {
    // 103 Early Hints precedes the answer.
    if (status < 200) return;
    this.#status = status;
    this.#retryAfter = headers['retry-after']?.toString();
    this.#onHeaders?.(headers);
  }

  onResponseData(_controller: unknown, chunk: Uint8Array): void {
    this.#body = Buffer.concat([this.#body, chunk]);
    if (this.#body.byteLength >= MAX_ANSWER_BYTES) this.#endWithAnswer();
  }

  onResponseEnd(): void {
    this.#controller = undefined;
    this.#endWithAnswer();
  }

  // An answer counts when it is complete or exceeds the limit. Before that, a broken connection or a timeout
  // means no answer.
  #endWithAnswer(): void {
    const status = this.#status;
    const retryAfter = this.#retryAfter;
    const body = this.#body.toString('utf8', 0, MAX_ANSWER_BYTES);
    const outcome = status >= 200 && status < 300 ? 'acknowledged' : 'refused';
    this.end({ outcome, response: { status, body, ...(retryAfter && { retryAfter }) } });
  }

  onResponseError(_controller: unknown, error: NodeJS.ErrnoException): void {
    this.#controller = undefined;
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

// msw 3 and nock 15 replace it. If they did so before this file was loaded, their own way past it remains.
const { connect: connectSocket } = Socket.prototype;
interface Interceptors {
  readonly __MSW_INTERNAL_CONNECTION_CONTEXT?: { readonly run: (open: () => void) => void };
}

/** Opens a connection that the interceptors of a test do not see. */
function openSocket(
  { hostname, port, protocol }: buildConnector.Options,
  timeoutMs: number,
  callback: buildConnector.Callback,
): Socket {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isSecure = protocol === 'https:';
  const socket = new Socket();
  const timer = timers.setTimeout(
    () => socket.destroy(new Error('It took too long to connect')),
    timeoutMs,
  );
  timer.unref?.();
  const fail = (error: Error) => {
    timers.clearTimeout(timer);
    callback(error, null);
  };
  const start = (ready: Socket) => {
    timers.clearTimeout(timer);
    ready.off('error', fail);
    callback(null, ready);
  };
  socket.once('error', fail).once('connect', () => {
    if (!isSecure) return start(socket);
    // Loaded on demand: it would add to every start, and few endpoints under test use TLS.
    const tls = process.getBuiltinModule('node:tls');
    const secure = tls.connect({ socket, host, servername: isIP(host) === 0 ? host : '' });
    secure.once('error', fail).once('secureConnect', () => start(secure));
  });
  const address = { host, port: Number(port) || (isSecure ? 443 : 80), noDelay: true };
  const { __MSW_INTERNAL_CONNECTION_CONTEXT: past } = globalThis as Interceptors;
  if (past === undefined) Reflect.apply(connectSocket, socket, [address]);
  else past.run(() => void socket.connect(address));
  return socket;
}
