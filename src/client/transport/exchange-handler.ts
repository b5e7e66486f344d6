import type { Dispatcher } from 'undici';
import { ConnectionError, InvalidOptionError } from '../../errors.js';
import { type Deadline, timers } from '../deadline.js';
import type { Verdict } from '../retry.js';
import { readInterceptedAnswer } from './answer-body.js';
import type { Connection, ConnectionQueue } from './connection-queue.js';
import type { KeptSocket } from './kept-socket.js';
import { isUnreadableAnswer } from './socket-errors.js';
import type {
  Answer,
  BodyFailure,
  Exchange,
  PreparedRequest,
  ResponseHeaders,
} from './transport.js';

export interface ExchangeRules {
  readonly maxResponseBytes: number;
  /** The client's own queue, which lends a connection to the request. Undefined with a user's dispatcher. */
  readonly queue: ConnectionQueue | undefined;
  /** Whether undici keeps the connections in a pool. */
  readonly isPooled: boolean;
}

/** Whether a request may be sent twice without creating anything twice. */
export function isRepeatable(method: string): boolean {
  return method === 'GET' || method === 'HEAD';
}

const NO_BODY = new Uint8Array(0);

/** Follows one request through undici and settles its exchange exactly once. */
export class ExchangeHandler implements Dispatcher.DispatchHandler {
  /** The socket that sends the request. Set by the client's own dispatcher. */
  socket: KeptSocket | undefined;
  readonly #method: string;
  readonly #deadline: Deadline;
  readonly #rules: ExchangeRules;
  readonly #resolve: (exchange: Exchange) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #connection: Connection | undefined;
  #start: (() => void) | undefined;
  #isStale = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  #body: Uint8Array = NO_BODY;
  #chunks: Uint8Array[] | undefined;
  #size = 0;

  constructor(
    { method }: PreparedRequest,
    deadline: Deadline,
    rules: ExchangeRules,
    resolve: (exchange: Exchange) => void,
  ) {
    this.#method = method;
    this.#deadline = deadline;
    this.#rules = rules;
    this.#resolve = resolve;
  }

  /** Keeps a connection of the queue until the request has ended. `start` dispatches it there. */
  borrow(connection: Connection, start: () => void): void {
    this.#connection = connection;
    this.#start = start;
    this.socket = connection.socket;
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
    if (this.socket?.isStale) {
      this.#isStale = true;
      // Without an error, for which undici would fail what waits for the connection.
      this.socket.cut();
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
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 103 Early Hints precedes the answer. For a 100 Continue, which was not asked for, undici ends the connection.
    if (status < 200 || this.#settled) return;
    this.#status = status;
    this.#headers = headers as ResponseHeaders;
    // The answer to a HEAD has a length but no body.
    const length = Number(headers['content-length']);
    if (this.#method !== 'HEAD' && length > this.#rules.maxResponseBytes) {
      this.#refuseLargeBody(controller);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#settled) return;
    this.#size += chunk.length;
    if (this.#size > this.#rules.maxResponseBytes) {
      this.#refuseLargeBody(controller);
    } else if (this.#body.length === 0) {
      this.#body = chunk;
    } else {
      this.#chunks ??= [this.#body];
      this.#chunks.push(chunk);
    }
  }

  onResponseEnd(): void {
    this.socket?.answered(this.#headers);
    if (this.#settled) {
      this.#leave();
      return;
    }
    this.#stopWaiting();
    // One turn of the event loop later: the server may close the connection right after its answer, and that
    // must be seen before the next request goes out on it. This runs before undici's own immediate, which then
    // finds that request in its queue and need not set the connection aside.
    if (!this.#rules.isPooled) timers.setImmediate(handOn, this);
    // With a pool, that request would open another connection: sequential calls would need two. So this runs after
    // undici's immediate. A single immediate for all answers of a turn would only run after that of the first answer.
    else timers.queueMicrotask(() => timers.setImmediate(handOn, this));
  }

  onResponseError(_controller: unknown, error: unknown): void {
    // Nothing was sent: undici opens a new connection for it.
    if (this.#isStale) {
      this.#isStale = false;
      this.#start?.();
      return;
    }
    const answer = this.#status === 0 ? readInterceptedAnswer(error) : undefined;
    if (answer === undefined)
      this.#fail(isUnreadableAnswer(error) ? 'unusable' : 'connection', error);
    else this.#settle(answer);
    this.#leave();
  }

  /** Called by undici 6 only. Throws, so that the request is not sent. */
  onConnect(): never {
    this.onError();
    throw new Error('The dispatcher is of an older undici');
  }

  /** Called by undici 6 only, instead of sending. */
  onError(): void {
    this.#settle({
      kind: 'failure',
      sent: this.#controller !== undefined,
      reason: 'connection',
      refuse: this.#rules.queue === undefined ? refuseDispatcher : refuseUndici,
    });
  }

  /** Passes the answer on, one turn after its end. */
  handOn(): void {
    this.#giveBack();
    this.#resolve(this.#answer(undefined));
  }

  /** Called when undici is done with the request: in the next turn its connection is free, or closed. */
  #leave(): void {
    if (this.#connection !== undefined) timers.setImmediate(() => this.#giveBack());
  }

  #giveBack(): void {
    if (this.#connection === undefined) return;
    this.#rules.queue?.giveBack(this.#connection);
    this.#connection = undefined;
  }

  #refuseLargeBody(controller: Dispatcher.DispatchController): void {
    this.#settle(this.#answer({ reason: 'too-large' }));
    this.#abort(controller, 'The body is larger than maxResponseBytes');
  }

  #abort(controller: Dispatcher.DispatchController, why: string): void {
    try {
      if (this.socket !== undefined) this.socket.cut(new Error(why));
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
      body: this.#chunks === undefined ? this.#body : Buffer.concat(this.#chunks),
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

// Shared by all requests: no closure per answer.
function handOn(handler: ExchangeHandler): void {
  handler.handOn();
}

function refuseDispatcher({ requestOutcome }: Verdict): InvalidOptionError {
  return new InvalidOptionError(
    'dispatcher',
    "dispatcher must be of undici 7 or 8, but it calls the handlers of undici 6, as Node's own did before Node 24; install undici 7 and create the dispatcher with it",
    { requestOutcome },
  );
}

function refuseUndici({ requestOutcome }: Verdict): ConnectionError {
  return new ConnectionError(
    'The request was not sent: merchant-payments needs undici 7, but an older one is installed in its place; remove undici from overrides, resolutions or pnpm.overrides in package.json, or pass the client a fetch',
    { requestOutcome },
  );
}
