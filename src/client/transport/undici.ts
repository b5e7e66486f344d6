import type { Dispatcher } from 'undici';
import type { Deadline } from '../deadline.js';
import { isUnreadableAnswer } from './error-code.js';
import type {
  Answer,
  BodyFailure,
  Exchange,
  PreparedRequest,
  ResponseHeaders,
  Transport,
} from './transport.js';

interface UndiciTransportOptions {
  readonly maxResponseBytes: number;
  /** Whether the dispatcher is the client's own, to be destroyed with it. */
  readonly owned: boolean;
}

/** Sends by undici's `dispatch`, the only call of undici that tells when a request really went out. */
export function createUndiciTransport(
  dispatcher: Dispatcher,
  { maxResponseBytes, owned }: UndiciTransportOptions,
): Transport {
  return {
    send(request, deadline) {
      return new Promise<Exchange>((resolve) => {
        const handler = new ExchangeHandler(request, deadline, maxResponseBytes, resolve);
        deadline.onGiveUp = () => handler.giveUp();
        if (deadline.gaveUp !== undefined) {
          handler.giveUp();
          return;
        }
        dispatch(dispatcher, request, handler);
      });
    },
    async destroy() {
      if (owned) await dispatcher.destroy();
    },
  };
}

function dispatch(
  dispatcher: Dispatcher,
  request: PreparedRequest,
  handler: ExchangeHandler,
): void {
  try {
    dispatcher.dispatch(
      {
        origin: request.origin,
        path: request.target,
        method: request.method,
        headers: request.headers as string[],
        body: request.body ?? null,
        // The call's own deadline stands above both.
        headersTimeout: 0,
        bodyTimeout: 0,
      },
      handler,
    );
  } catch (error) {
    handler.onResponseError(undefined, error);
  }
}

const NO_BODY = new Uint8Array(0);

/** Follows one request through undici and settles its exchange exactly once. */
class ExchangeHandler implements Dispatcher.DispatchHandler {
  readonly #method: string;
  readonly #deadline: Deadline;
  readonly #maxBytes: number;
  readonly #resolve: (exchange: Exchange) => void;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #status = 0;
  #headers: ResponseHeaders = {};
  #body: Uint8Array = NO_BODY;
  #chunks: Uint8Array[] | undefined;
  #size = 0;

  constructor(
    { method }: PreparedRequest,
    deadline: Deadline,
    maxBytes: number,
    resolve: (exchange: Exchange) => void,
  ) {
    this.#method = method;
    this.#deadline = deadline;
    this.#maxBytes = maxBytes;
    this.#resolve = resolve;
  }

  giveUp(): void {
    this.#fail('given-up', undefined);
    this.#controller?.abort(new Error('The call was given up'));
  }

  // From here on bytes may leave this machine. A request that was given up while it waited in a
  // queue is stopped here, and one that undici would send a second time as well: only the retry
  // policy may do that.
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled || this.#controller !== undefined) {
      this.#fail('connection', undefined);
      controller.abort(new Error('The call was given up'));
      return;
    }
    this.#controller = controller;
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    // 100 Continue and 103 Early Hints come before the answer.
    if (status < 200 || this.#settled) return;
    this.#status = status;
    this.#headers = headers as ResponseHeaders;
    // The answer to a HEAD tells a length and has no body.
    if (this.#method !== 'HEAD' && Number(headers['content-length']) > this.#maxBytes) {
      this.#refuseLargeBody(controller);
    }
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#settled) return;
    this.#size += chunk.length;
    if (this.#size > this.#maxBytes) {
      this.#refuseLargeBody(controller);
    } else if (this.#body.length === 0) {
      this.#body = chunk;
    } else {
      this.#chunks ??= [this.#body];
      this.#chunks.push(chunk);
    }
  }

  onResponseEnd(): void {
    if (this.#settled) return;
    if (this.#chunks !== undefined) this.#body = Buffer.concat(this.#chunks, this.#size);
    this.#settled = true;
    this.#deadline.onGiveUp = undefined;
    const answer = this.#answer(undefined);
    // undici takes the connection back in the event loop's next turn. A caller that went on before
    // would find it busy and open another: calls in turn would need two.
    queueMicrotask(() => setImmediate(this.#resolve, answer));
  }

  onResponseError(_controller: unknown, error: unknown): void {
    this.#fail(isUnreadableAnswer(error) ? 'unusable' : 'connection', error);
  }

  #refuseLargeBody(controller: Dispatcher.DispatchController): void {
    this.#settle(this.#answer({ reason: 'too-large' }));
    controller.abort(new Error('The body is larger than maxResponseBytes'));
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
      body: this.#body,
      bodyFailure,
    };
  }

  #settle(exchange: Exchange): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#deadline.onGiveUp = undefined;
    this.#resolve(exchange);
  }
}
