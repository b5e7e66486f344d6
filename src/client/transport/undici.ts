import type { Dispatcher } from 'undici';
import { ConnectionError } from '../../errors.js';
import type { Deadline } from '../deadline.js';
import type { Connection, ConnectionQueue } from './connection-queue.js';
import { ExchangeHandler, isRepeatable } from './exchange-handler.js';
import type { Exchange, Failure, PreparedRequest, Transport } from './transport.js';

/** The client's own connections to the service, direct or through a proxy. */
export interface OwnRoute {
  readonly queue: ConnectionQueue;
  /** Whether undici keeps the connections in a pool, which gets each back one turn after its answer. */
  readonly isPooled: boolean;
  /** Called when no call is in flight. */
  readonly destroy: () => Promise<void>;
}

/** The options that the client's own dispatchers receive. */
export interface OwnDispatchOptions extends Dispatcher.DispatchOptions {
  readonly handler: ExchangeHandler;
}

const GIVEN_UP: Failure = { kind: 'failure', sent: false, reason: 'given-up' };

/** Sends by the client's own connections. */
export function createOwnTransport(
  { queue, isPooled, destroy }: OwnRoute,
  maxResponseBytes: number,
): Transport {
  const rules = { maxResponseBytes, queue, isPooled };

  const exchange = (request: PreparedRequest, deadline: Deadline, connection: Connection) =>
    new Promise<Exchange>((resolve) => {
      const handler = new ExchangeHandler(request, deadline, rules, resolve);
      const start = () =>
        dispatch(connection.dispatcher, toOwnOptions(request, handler), handler, deadline);
      handler.borrow(connection, start);
      start();
    });

  const exchangeLater = async (request: PreparedRequest, deadline: Deadline): Promise<Exchange> => {
    if (queue.isFull) return refuseQueued(request);
    // Continues in the async context of this call, not of the call that gave the connection back.
    const connection = await queue.borrow(deadline);
    if (connection === undefined) return GIVEN_UP;
    if (deadline.check() === undefined) return exchange(request, deadline, connection);
    queue.giveBack(connection);
    return GIVEN_UP;
  };

  return {
    answerRules: { maxResponseBytes, isDecoded: false, isMock: false },
    send: unlessGivenUp((request, deadline) => {
      const connection = queue.tryBorrow();
      return connection === undefined
        ? exchangeLater(request, deadline)
        : exchange(request, deadline, connection);
    }),
    destroy,
  };
}

/** Sends by a user's dispatcher, which may have its own queue. The user closes it. */
export function createDispatcherTransport(
  dispatcher: Dispatcher,
  maxResponseBytes: number,
): Transport {
  const toOptions = createForeignOptions(dispatcher);
  const rules = { maxResponseBytes, queue: undefined, isPooled: true };
  return {
    answerRules: { maxResponseBytes, isDecoded: false, isMock: isMock(dispatcher) },
    send: unlessGivenUp(
      (request, deadline) =>
        new Promise<Exchange>((resolve) => {
          const handler = new ExchangeHandler(request, deadline, rules, resolve);
          dispatch(dispatcher, toOptions(request), handler, deadline);
        }),
    ),
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

// Spelled out: with an object made by a spread, undici took 5 µs longer for each request.
function toOwnOptions(request: PreparedRequest, handler: ExchangeHandler): OwnDispatchOptions {
  return {
    origin: request.origin,
    path: request.target,
    method: request.method as Dispatcher.HttpMethod,
    headers: request.headers as string[],
    body: request.body ?? null,
    // The call's deadline covers both.
    headersTimeout: 0,
    bodyTimeout: 0,
    handler,
  };
}

/** For a user's dispatcher, whose interceptors may change the headers or send again. */
function createForeignOptions(dispatcher: Dispatcher) {
  // A mock compares the body with a text.
  const toBody = isMock(dispatcher) ? (text: string) => text : createOneTimeBody;
  return (request: PreparedRequest): Dispatcher.DispatchOptions => {
    const options = {
      origin: request.origin,
      path: request.target,
      method: request.method as Dispatcher.HttpMethod,
      body: request.body ?? null,
      headersTimeout: 0,
      bodyTimeout: 0,
      // A new object: interceptors spread it and write to it.
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
 * A body that undici's interceptors treat as a stream that was already read, and so never send again. undici's
 * RetryHandler would repeat a POST whose answer broke off after a 2xx, and hide that from the handler.
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

/** A call may be cancelled before its transport is loaded. */
function unlessGivenUp(send: Transport['send']): Transport['send'] {
  return (request, deadline) =>
    deadline.check() === undefined ? send(request, deadline) : Promise.resolve(GIVEN_UP);
}
