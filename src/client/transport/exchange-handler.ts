import type { Dispatcher } from 'undici';
import { timers } from '../../protocol/timers.js';
import type { Deadline } from '../deadline.js';
import { readInterceptedAnswer } from './answer-body.js';
import type { KeptSocket } from './connection-queue.js';
import { isUnreadableAnswer } from './socket-errors.js';
import type {
  Answer,
  BodyFailure,
  Exchange,
  PreparedRequest,
  ResponseHeaders,
} from './transport.js';

/** A connection that the client's own queue has lent to the request. */
interface LentConnection {
  readonly socket: KeptSocket;
  /** Dispatches the request on it. */
  readonly start: () => void;
  readonly giveBack: () => void;
}

/** Whether a request may be sent twice without creating anything twice. */
export function isRepeatable(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

/** Follows one request through undici and settles its exchange exactly once. */
export class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #method: string;
  readonly #deadline: Deadline;
  readonly #maxResponseBytes: number;
  readonly #resolve: (exchange: Exchange) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  readonly #lent: LentConnection | undefined;
  #isStale = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(
    { method }: PreparedRequest,
    deadline: Deadline,
    maxResponseBytes: number,
    resolve: (exchange: Exchange) => void,
    /** Undefined with a user's dispatcher. */
    lent?: LentConnection,
  ) {
    this.#method = method;
    this.#deadline = deadline;
    this.#maxResponseBytes = maxResponseBytes;
    this.#resolve = resolve;
    this.#lent = lent;
  }

  giveUp(): void {
    this.#fail('given-up', undefined);
    if (this.#controller !== undefined) this.#abort(this.#controller, 'The call was cancelled');
  }

  // From here on bytes may leave this machine.
  onRequestStart(controller: Dispatcher.DispatchController): void {
    // Cancelled while it waited for a connection. Thrown, since an abort would cost the connection.
    if (this.#settled || this.#deadline.check() !== undefined)
      throw new Error('The call was cancelled');
    // Only here: between dispatch and sending, undici lets the event loop turn.
    if (this.#lent?.socket.isStale) {
      this.#isStale = true;
      // Without an error, for which undici would fail what waits for the connection.
      this.#lent.socket.cut();
      throw new Error('The connection was idle for too long');
    }
    // An interceptor sends it a second time, which only the retry policy may do.
    if (this.#controller !== undefined && !(isRepeatable(this.#method) && this.#status === 0)) {
      this.#fail('connection', undefined);
      this.#abort(controller, 'The request was sent before');
      return;
    }
    this.#controller = controller;
    this.#deadline.inFlight = true;
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 103 Early Hints precedes the answer. For a 100 Continue, which was not asked for, undici ends the connection.
    if (status < 200 || this.#settled) return;
    this.#status = status;
    this.#headers = headers as ResponseHeaders;
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#settled) return;
    // Of a body that is too large, too: its beginning shows whether it is a page.
    this.#chunks.push(chunk.subarray(0, this.#maxResponseBytes - this.#size));
    this.#size += chunk.length;
    if (this.#size <= this.#maxResponseBytes) return;
    this.#settle(this.#answer({ reason: 'too-large' }));
    this.#abort(controller, 'The body is larger than maxResponseBytes');
  }

  onResponseEnd(): void {
    this.#lent?.socket.answered(this.#headers);
    if (this.#settled) {
      this.#leave();
      return;
    }
    this.#stopWaiting();
    // One turn of the event loop later: the server may close the connection right after its answer, and that
    // must be seen before the next request goes out on it. This runs before undici's own immediate, which then
    // finds that request in its queue and need not set the connection aside.
    const handOn = () => {
      this.#lent?.giveBack();
      this.#resolve(this.#answer(undefined));
    };
    if (this.#lent !== undefined) timers.setImmediate(handOn);
    // With the pool of a user's dispatcher, that request would open another connection: sequential calls would need two.
    // So this runs after undici's immediate. A single immediate for all answers of a turn would only run after that of
    // the first answer.
    else timers.queueMicrotask(() => timers.setImmediate(handOn));
  }

  onResponseError(_controller: unknown, error: unknown): void {
    // Nothing was sent: undici opens a new connection for it.
    if (this.#isStale) {
      this.#isStale = false;
      this.#lent?.start();
      return;
    }
    const answer = this.#status === 0 ? readInterceptedAnswer(error) : undefined;
    if (answer === undefined)
      this.#fail(isUnreadableAnswer(error) ? 'unusable' : 'connection', error);
    else this.#settle(answer);
    this.#leave();
  }

  /** Called by undici 6 alone. Throws, so that the request is not sent. */
  onConnect(): never {
    throw olderUndici();
  }

  /** Called by undici 6 alone, instead of sending. */
  onError(): void {
    this.onResponseError(undefined, olderUndici());
  }

  /** Called when undici is done with the request: in the next turn its connection is free, or closed. */
  #leave(): void {
    if (this.#lent !== undefined) timers.setImmediate(this.#lent.giveBack);
  }

  #abort(controller: Dispatcher.DispatchController, why: string): void {
    try {
      if (this.#lent !== undefined) this.#lent.socket.cut(new Error(why));
      else controller.abort(new Error(why));
    } catch {
      // A user's dispatcher must not end the process. The call already has its outcome.
    }
  }

  #fail(reason: 'connection' | 'unusable' | 'given-up', cause: unknown): void {
    if (this.#status !== 0) {
      this.#settle(this.#answer({ reason: reason === 'given-up' ? reason : 'lost', cause }));
    } else {
      this.#settle({ kind: 'failure', sent: this.#controller !== undefined, reason, cause });
    }
  }

  #answer(bodyFailure: BodyFailure | undefined): Answer {
    return {
      kind: 'answer',
      status: this.#status,
      headers: this.#headers,
      body: Buffer.concat(this.#chunks),
      bodyFailure,
    };
  }

  #settle(exchange: Exchange): void {
    if (this.#settled) return;
    this.#stopWaiting();
    this.#resolve(exchange);
  }

  #stopWaiting(): void {
    this.#settled = true;
    this.#deadline.onGiveUp = undefined;
    this.#deadline.inFlight = false;
  }
}

const olderUndici = (): Error =>
  Object.assign(new Error('undici is older than 7'), { code: 'OLD_UNDICI' });
