import type { Dispatcher } from 'undici';
import type { Deadline } from '../deadline.js';
import type { Connection, ConnectionQueue } from './connection-queue.js';
import { ExchangeHandler } from './exchange-handler.js';
import { type Exchange, GIVEN_UP, type PreparedRequest, type Transport } from './transport.js';

export interface OwnRoute {
  readonly queue: ConnectionQueue;
  readonly destroy: () => Promise<void>;
}

/** Sends by the client's own connections. */
export function createOwnTransport(
  { queue, destroy }: OwnRoute,
  maxResponseBytes: number,
): Transport {
  const exchange = (connection: Connection, request: PreparedRequest, deadline: Deadline) =>
    new Promise<Exchange>((resolve) => {
      const { dispatcher, socket } = connection;
      const lent = {
        socket,
        start: () => dispatch(dispatcher, toOptions(request), handler, deadline),
        giveBack: () => queue.giveBack(connection),
      };
      const handler = new ExchangeHandler({ request, deadline, maxResponseBytes, resolve, lent });
      lent.start();
    });
  return {
    answerRules: { maxResponseBytes, isDecoded: false, isMock: false },
    send(request, deadline) {
      const borrowed = queue.borrow(deadline);
      if (!(borrowed instanceof Promise)) return exchange(borrowed, request, deadline);
      // Continues in the async context of this call, not of the call that gave the connection back.
      return borrowed.then((connection) => {
        if (connection === undefined) return GIVEN_UP;
        if (deadline.check() === undefined) return exchange(connection, request, deadline);
        queue.giveBack(connection);
        return GIVEN_UP;
      });
    },
    destroy,
  };
}

/** Sends by a user's dispatcher, which may have its own queue. The user closes it. */
export function createDispatcherTransport(
  dispatcher: Dispatcher,
  maxResponseBytes: number,
): Transport {
  return {
    answerRules: { maxResponseBytes, isDecoded: false, isMock: isMock(dispatcher) },
    send: (request, deadline) =>
      new Promise<Exchange>((resolve) => {
        const sending = { request, deadline, maxResponseBytes, resolve, lent: undefined };
        const handler = new ExchangeHandler(sending);
        dispatch(dispatcher, toForeignOptions(request, dispatcher), handler, deadline);
      }),
    async destroy() {},
  };
}

/** Sends by undici's `dispatch`: only this shows when a request was really sent. */
function dispatch(
  dispatcher: Dispatcher,
  options: Dispatcher.DispatchOptions,
  handler: ExchangeHandler,
  deadline: Deadline,
): void {
  deadline.onGiveUp = () => handler.giveUp();
  try {
    dispatcher.dispatch(options, handler);
  } catch (error) {
    handler.onResponseError(undefined, error);
  }
}

function toOptions(request: PreparedRequest): Dispatcher.DispatchOptions {
  // A list, which undici reads faster, and a new one, to which a proxy's agent may write.
  const headers: string[] = [];
  for (const name of Object.keys(request.headers))
    headers.push(name, request.headers[name] as string);
  return {
    origin: request.origin,
    path: request.target,
    method: request.method as Dispatcher.HttpMethod,
    headers,
    body: request.body ?? null,
    // The call's deadline covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
  };
}

/** For a user's dispatcher, whose interceptors may change the headers or send again. */
function toForeignOptions(
  request: PreparedRequest,
  dispatcher: Dispatcher,
): Dispatcher.DispatchOptions {
  // Interceptors expect an object.
  const options = { ...toOptions(request), headers: { ...request.headers } };
  if (request.safe) return options;
  const text = request.body ?? '';
  // A mock compares the body with a text.
  const body = isMock(dispatcher) ? text : createOneTimeBody(text);
  return Object.assign(options, { body, maxRedirections: 0 });
}

/**
 * A body that undici's interceptors treat as a stream that was already read, and so never send again. undici's
 * RetryHandler would repeat a POST whose answer broke off after a 2xx, and hide that from the handler.
 */
function createOneTimeBody(text: string): Buffer {
  return Object.defineProperty(Buffer.from(text), 'readableDidRead', { value: true });
}

function isMock(dispatcher: Dispatcher): boolean {
  return 'assertNoPendingInterceptors' in dispatcher || 'intercept' in dispatcher;
}
