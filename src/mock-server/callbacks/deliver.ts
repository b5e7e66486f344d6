import http from 'node:http';
import https from 'node:https';

/** What came of one request. */
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
  /** Told of the answer's headers, before its body has come. */
  readonly onHeaders?: ((headers: http.IncomingHttpHeaders) => void) | undefined;
  readonly hold?: BodyHold | undefined;
}

/** Lets the bodies of several requests go at the same moment, however long each took to connect. */
export interface BodyHold {
  readonly onConnected: () => void;
  /** When the body is to go. */
  readonly released: Promise<void>;
}

/** An answer's body is for the log only; more of it is not read. */
const MAX_ANSWER_BYTES = 4096;

/**
 * Sends callbacks and keeps count of those under way, so that they can be broken off.
 *
 * Every attempt has a connection of its own: one that was kept from the attempt before can be closed
 * by the endpoint at the moment it is used again, and the failed attempt in the log would be the
 * mock's doing, not the endpoint's.
 */
export class CallbackSender {
  readonly #timeoutMs: number;
  readonly #httpAgent = new http.Agent({ keepAlive: false });
  readonly #httpsAgent = new https.Agent({ keepAlive: false });
  readonly #inFlight = new Set<http.ClientRequest>();

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs;
  }

  /** Never rejects: whatever goes wrong is a result. */
  post(callback: CallbackPost): Promise<PostResult> {
    return this.#send('POST', callback);
  }

  /** As {@link CallbackSender.post}. */
  get(url: string): Promise<PostResult> {
    return this.#send('GET', { url, headers: {}, body: new Uint8Array() });
  }

  #send(
    method: string,
    { url, headers, body, onHeaders, hold }: CallbackPost,
  ): Promise<PostResult> {
    return new Promise((resolve) => {
      const options = {
        method,
        headers: { ...headers, 'content-length': String(body.byteLength) },
      };
      const request = url.startsWith('https:')
        ? https.request(url, { ...options, agent: this.#httpsAgent })
        : http.request(url, { ...options, agent: this.#httpAgent });
      const settle = (result: PostResult) => {
        clearTimeout(timer);
        this.#inFlight.delete(request);
        resolve(result);
      };
      const fail = (error: NodeJS.ErrnoException) => {
        settle({ outcome: 'failed', errorCode: error.code ?? error.name });
      };
      // Real time, not the service's clock: what is waited for is real input and output, which a
      // clock that stands still would wait for without end.
      const timer = setTimeout(() => {
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

  /** Breaks off every attempt under way; each ends as `failed`. */
  abort(): void {
    for (const request of this.#inFlight) request.destroy(new Error('broken off'));
  }

  close(): void {
    this.abort();
    this.#httpAgent.destroy();
    this.#httpsAgent.destroy();
  }
}

function holdBody(request: http.ClientRequest, body: Uint8Array, hold: BodyHold): void {
  request.once('socket', (socket) => {
    socket.once('encrypted' in socket ? 'secureConnect' : 'connect', hold.onConnected);
  });
  request.flushHeaders();
  void hold.released.then(() => request.end(body));
}

// An answer counts once it is complete, or has more of a body than is read. Before that a connection
// that breaks, or a time that runs out, is no answer.
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
