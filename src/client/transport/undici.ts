import type { Dispatcher } from 'undici';
import { ConnectionError } from '../../errors.js';
import type { Deadline } from '../deadline.js';
import { ExchangeHandler, isRepeatable } from './exchange-handler.js';
import type { RequestQueue } from './request-queue.js';
import type { Exchange, Failure, PreparedRequest, Transport } from './transport.js';

/** A dispatcher, and what the client may expect of it. */
export interface Route {
  readonly dispatcher: Dispatcher;
  /** In front of the client's own dispatcher; a user's has its own limit, or none. */
  readonly queue?: RequestQueue;
  /** Called when no call is in flight any more. */
  readonly destroy?: () => Promise<void>;
}

/** What the client's own dispatcher gets, down to the connection that sends it. */
export interface OwnDispatchOptions extends Dispatcher.DispatchOptions {
  readonly handler: ExchangeHandler;
}

const GIVEN_UP: Failure = { kind: 'failure', sent: false, reason: 'given-up' };

/** Sends by undici's `dispatch`, the only call of undici that shows when a request was really sent. */
export function createUndiciTransport(
  { dispatcher, queue, destroy }: Route,
  maxResponseBytes: number,
): Transport {
  const toOptions = queue === undefined ? createForeignOptions(dispatcher) : ownOptions;
  const rules = { maxResponseBytes, queue, isMock: isMock(dispatcher) };

  const exchange: Transport['send'] = (request, deadline) =>
    new Promise<Exchange>((resolve) => {
      const handler = new ExchangeHandler(request, deadline, rules, resolve);
      deadline.onGiveUp = () => handler.giveUp();
      try {
        dispatcher.dispatch(toOptions(request, handler), handler);
      } catch (error) {
        handler.onResponseError(undefined, error);
      }
    });

  const exchangeLater = async (
    queue: RequestQueue,
    request: PreparedRequest,
    deadline: Deadline,
  ): Promise<Exchange> => {
    if (queue.isFull) return refuseQueued(request);
    // Goes on in the async context of this call, not in that of the call which made room.
    if (!(await queue.enter(deadline))) return GIVEN_UP;
    if (deadline.gaveUp === undefined) return exchange(request, deadline);
    queue.leave();
    return GIVEN_UP;
  };

  return {
    send(request, deadline) {
      if (deadline.gaveUp !== undefined) return Promise.resolve(GIVEN_UP);
      return queue === undefined || queue.tryEnter()
        ? exchange(request, deadline)
        : exchangeLater(queue, request, deadline);
    },
    async destroy() {
      await destroy?.();
    },
  };
}

function ownOptions(request: PreparedRequest, handler: ExchangeHandler): OwnDispatchOptions {
  return Object.assign(toDispatchOptions(request), { handler });
}

function toDispatchOptions(request: PreparedRequest): Dispatcher.DispatchOptions {
  return {
    origin: request.origin,
    path: request.target,
    method: request.method as Dispatcher.HttpMethod,
    headers: request.headers as string[],
    body: request.body ?? null,
    // The call's own deadline stands above both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}

/** For a dispatcher of the user's, whose interceptors may change the headers or send again. */
function createForeignOptions(dispatcher: Dispatcher) {
  // A mock compares the body to a text.
  const toBody = isMock(dispatcher) ? (text: string) => text : createOneTimeBody;
  return (request: PreparedRequest): Dispatcher.DispatchOptions => {
    const options = {
      ...toDispatchOptions(request),
      // An object, made anew: interceptors spread it and write to it.
      headers: toHeaderObject(request.headers),
    };
    if (isRepeatable(request.method)) return options;
    return Object.assign(options, { body: toBody(request.body ?? ''), maxRedirections: 0 });
  };
}

function toHeaderObject(headers: readonly string[]): Record<string, string> {
  const object: Record<string, string> = {};
  for (let index = 0; index < headers.length; index += 2) {
    object[headers[index] as string] = headers[index + 1] as string;
  }
  return object;
}

/**
 * A body that undici's interceptors take for a stream which was read already, and never send again.
 * Its RetryHandler repeats a POST whose answer broke off after a 2xx, and hides that from the handler.
 */
function createOneTimeBody(text: string): Buffer {
  return Object.defineProperty(Buffer.from(text), 'readableDidRead', { value: true });
}

function isMock(dispatcher: Dispatcher): boolean {
  return 'assertNoPendingInterceptors' in dispatcher || 'intercept' in dispatcher;
}

function refuseQueued({ method, path }: PreparedRequest): Failure {
  const message = `${method} ${path} was not sent: all connections are busy, and as many requests as maxQueuedRequests allows wait for one; try again later, or raise maxQueuedRequests`;
  return {
    kind: 'failure',
    sent: false,
    reason: 'connection',
    refuse: (verdict) => new ConnectionError(message, verdict),
  };
}
