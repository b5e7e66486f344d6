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
  readonly start: () => void;
  readonly giveBack: () => void;
}

interface Sending {
  readonly request: PreparedRequest;
  readonly deadline: Deadline;
  readonly maxResponseBytes: number;
  readonly resolve: (exchange: Exchange) => void;
  /** Undefined with a user's dispatcher. */
  readonly lent: LentConnection | undefined;
}

/** Follows one request through undici and settles its exchange exactly once. */
export class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #sending: Sending;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #isStale = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  readonly #chunks: Uint8Array[] = [];
  #size = 0;

  constructor(sending: Sending) {
    this.#sending = sending;
  }

  giveUp(): void {
    this.#fail('given-up', undefined);
    if (this.#controller !== undefined) this.#abort(this.#controller, 'The call was cancelled');
  }

  // From here on bytes may leave this machine.
  onRequestStart(controller: Dispatcher.DispatchController): void {
    const { request, deadline, lent } = this.#sending;
    // Cancelled while it waited for a connection. Thrown, since an abort would cost the connection.
    if (this.#settled || deadline.check() !== undefined) throw new Error('The call was cancelled');
    // Only here: between dispatch and sending, undici lets the event loop turn.
    if (lent?.socket.isStale) {
      this.#isStale = true;
      // Without an error, for which undici would fail what waits for the connection.
      lent.socket.cut();
      throw new Error('The connection was idle for too long');
    }
    // An interceptor sends it a second time, which only the retry policy may do.
    if (this.#controller !== undefined && !(request.safe && this.#status === 0)) {
      this.#fail('connection', undefined);
      this.#abort(controller, 'The request was sent before');
      return;
    }
    this.#controller = controller;
    deadline.inFlight = true;
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
    const left = this.#sending.maxResponseBytes - this.#size;
    this.#size += chunk.length;
    // The beginning of a body that is too large is kept: it shows whether the body is a page.
    this.#chunks.push(chunk.length <= left ? chunk : chunk.subarray(0, left));
    if (chunk.length <= left) return;
    this.#settle(this.#answer({ reason: 'too-large' }));
    this.#abort(controller, 'The body is larger than maxResponseBytes');
  }

  onResponseEnd(): void {
    const { lent, resolve } = this.#sending;
    lent?.socket.answered(this.#headers);
    this.#stopWaiting();
    // One turn of the event loop later: the server may close the connection right after its answer, and that
    // must be seen before the next request goes out on it. This runs before undici's own immediate, which then
    // finds that request in its queue and need not set the connection aside.
    const handOn = () => {
      lent?.giveBack();
      resolve(this.#answer(undefined));
    };
    if (lent !== undefined) timers.setImmediate(handOn);
    // With the pool of a user's dispatcher, that request would open another connection: sequential calls would need two.
    // So this runs after undici's immediate. A single immediate for all answers of a turn would only run after that of
    // the first answer.
    else timers.queueMicrotask(() => timers.setImmediate(handOn));
  }

  onResponseError(_controller: unknown, error: unknown): void {
    // Nothing was sent: undici opens a new connection for it.
    if (this.#isStale) {
      this.#isStale = false;
      this.#sending.lent?.start();
      return;
    }
    const answer = this.#status === 0 ? readInterceptedAnswer(error) : undefined;
    if (answer !== undefined) this.#settle(answer);
    else this.#fail(isUnreadableAnswer(error) ? 'unusable' : 'connection', error);
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

  /** In the next turn the connection is free, or closed. */
  #leave(): void {
    const { lent } = this.#sending;
    if (lent !== undefined) timers.setImmediate(lent.giveBack);
  }

  #abort(controller: Dispatcher.DispatchController, why: string): void {
    const { lent } = this.#sending;
    try {
      if (lent !== undefined) lent.socket.cut(new Error(why));
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
      body:
        this.#chunks.length === 1 ? (this.#chunks[0] as Uint8Array) : Buffer.concat(this.#chunks),
      bodyFailure,
    };
  }

  #settle(exchange: Exchange): void {
    if (this.#settled) return;
    this.#stopWaiting();
    this.#sending.resolve(exchange);
  }

  #stopWaiting(): void {
    const { deadline } = this.#sending;
    this.#settled = true;
    deadline.onGiveUp = undefined;
    deadline.inFlight = false;
  }
}

const olderUndici = (): Error =>
  Object.assign(new Error('undici is older than 7'), { code: 'OLD_UNDICI' });
