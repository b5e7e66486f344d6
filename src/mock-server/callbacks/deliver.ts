import http from 'node:http';
import type https from 'node:https';
import { ownFields } from '../../protocol/own-fields.js';

/** The result of one request. */
export type PostResult =
  | {
      readonly outcome: 'acknowledged' | 'refused';
      readonly response: { readonly status: number; readonly body: string };
    }
  | { readonly outcome: 'failed'; readonly errorCode: string }
  | { readonly outcome: 'timed-out' };

interface CallbackPost {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
  /** Called with the answer's headers, before its body is read. */
  readonly onHeaders?: ((headers: http.IncomingHttpHeaders) => void) | undefined;
  readonly hold?: BodyHold | undefined;
}

/** Makes several requests send their bodies at the same moment, however long each takes to connect. */
export interface BodyHold {
  readonly onConnected: () => void;
  /** Resolves when the body may be sent. */
  readonly released: Promise<void>;
}

/** An answer's body is only for the log. */
const MAX_ANSWER_BYTES = 4096;

// Real time: with a manual clock it would wait forever.
const startRealTimer = (run: () => void, milliseconds: number): (() => void) => {
  const timer = setTimeout(run, milliseconds);
  return () => clearTimeout(timer);
};

/**
 * Sends callbacks, and can abort those that are under way.
 *
 * Every attempt opens a new connection: the endpoint could close a reused one just as an attempt starts,
 * and the log would show a failure that is not the endpoint's.
 */
export class CallbackSender {
  readonly #timeoutMs: number;
  readonly #startTimer: typeof startRealTimer;
  readonly #httpAgent = new http.Agent({ keepAlive: false });
  #httpsAgent: https.Agent | undefined;
  readonly #inFlight = new Set<http.ClientRequest>();

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

  #send(method: string, callback: CallbackPost): Promise<PostResult> {
    const { url, headers, body, onHeaders, hold } = ownFields(callback);
    return new Promise((resolve) => {
      const options = {
        method,
        headers: { ...headers, 'content-length': String(body.byteLength) },
      };
      const request = url.startsWith('https:')
        ? this.#requestByTls(url, options)
        : http.request(url, { ...options, agent: this.#httpAgent });
      const settle = (result: PostResult) => {
        cancelTimer();
        this.#inFlight.delete(request);
        resolve(result);
      };
      const fail = (error: NodeJS.ErrnoException) => {
        settle({ outcome: 'failed', errorCode: error.code ?? error.name });
      };
      const cancelTimer = this.#startTimer(() => {
        settle({ outcome: 'timed-out' });
        request.destroy();
      }, this.#timeoutMs);
      this.#inFlight.add(request);
      request.on('error', fail);
      request.on('response', (response) => {
        onHeaders?.(response.headers);
        collectAnswer(response, settle, fail);
      });
      if (hold === undefined) request.end(body);
      else holdBody(request, body, hold);
    });
  }

  /** Aborts every attempt under way; each ends as `failed`. */
  abort(): void {
    for (const request of this.#inFlight) request.destroy(new Error('aborted'));
  }

  close(): void {
    this.abort();
    this.#httpAgent.destroy();
    this.#httpsAgent?.destroy();
  }

  #requestByTls(url: string, options: https.RequestOptions): http.ClientRequest {
    // Loaded on demand: it would add to every start, and few endpoints under test use TLS.
    const { Agent, request } = process.getBuiltinModule('node:https');
    this.#httpsAgent ??= new Agent({ keepAlive: false });
    return request(url, { ...options, agent: this.#httpsAgent });
  }
}

function holdBody(request: http.ClientRequest, body: Uint8Array, hold: BodyHold): void {
  request.once('socket', (socket) => {
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', hold.onConnected);
  });
  request.flushHeaders();
  void hold.released.then(() => request.end(body));
}

// An answer counts when it is complete or exceeds the limit. Before that, a broken connection or a timeout
// means no answer.
function collectAnswer(
  response: http.IncomingMessage,
  settle: (result: PostResult) => void,
  fail: (error: NodeJS.ErrnoException) => void,
): void {
  const chunks: Buffer[] = [];
  let size = 0;
  const finish = () => {
    const status = response.statusCode ?? 0;
    const body = Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES).toString();
    const outcome = status >= 200 && status < 300 ? 'acknowledged' : 'refused';
    settle({ outcome, response: { status, body } });
  };
  response.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    size += chunk.byteLength;
    if (size < MAX_ANSWER_BYTES) return;
    finish();
    response.destroy();
  });
  response.on('end', finish);
  response.on('error', fail);
}
