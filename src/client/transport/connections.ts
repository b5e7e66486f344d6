import type { buildConnector, Client, Dispatcher } from 'undici';
import { type Connection, ConnectionQueue, KEEP_ALIVE_MS, KeptSocket } from './connection-queue.js';
import type { OwnRoute } from './undici.js';

interface Undici {
  readonly Client: typeof Client;
  readonly buildConnector: typeof buildConnector;
}

type Connector = buildConnector.connector;

// Enough for a thousand calls of 250 ms each per second, without a flood of sockets if the service stalls: further
// calls wait in the queue, within their deadline, and are not sent after it.
export const MAX_CONNECTIONS = 256;

// Shorter than the default deadline, which leaves time for a retry.
const CONNECT_TIMEOUT_MS = 10_000;

// How long Node tries an address before it gives it up for the next. In the 250 ms of Node's default, a slow address
// would never be reached, nor one whose first packet was lost and is repeated after a second.
const trying = { autoSelectFamilyAttemptTimeout: 1_500 };

/**
 * One request at a time per connection, over HTTP/1.1: requests that share a connection share its failure, and
 * a request that was sent could not be told from one that was not.
 */
const UNSHARED = { pipelining: 1, allowH2: false } as const;

/** The client's own connections, straight to the service. */
export async function createOwnRoute(origin: string): Promise<OwnRoute> {
  const undici = await loadUndici();
  return createRoute(undici, ({ connect, socket }) =>
    createKeptClient(undici, origin, { ...UNSHARED, connect }, socket),
  );
}

/** Sends through the proxies that the environment names. Each connection has an agent of undici for itself. */
export async function createProxyRoute(): Promise<OwnRoute> {
  // The agent needs all of undici.
  const undici = await import('undici');
  return createRoute(
    undici,
    ({ connect, socket }) =>
      new undici.EnvHttpProxyAgent({
        ...UNSHARED,
        connections: 1,
        connect,
        // For plain TCP too. Its type wants a port, which undici sets.
        proxyTls: trying as buildConnector.BuildOptions,
        factory: (origin: string | URL, options: object): Dispatcher =>
          createKeptClient(undici, origin, options as ConnectingOptions, socket),
        clientFactory: (proxy: URL, { connect }: { connect?: Connector }): Dispatcher =>
          new undici.Pool(proxy, {
            connect: failOnce(connect as Connector),
            // For the answer to CONNECT, which is a part of connecting.
            headersTimeout: CONNECT_TIMEOUT_MS,
          }),
      }),
  );
}

interface ConnectionParts {
  readonly connect: Connector;
  readonly socket: KeptSocket;
}

function createRoute(
  { buildConnector }: Undici,
  createDispatcher: (parts: ConnectionParts) => Dispatcher,
): OwnRoute {
  const connect = buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false, ...trying });
  const dispatchers: Dispatcher[] = [];
  const create = (): Connection => {
    const socket = new KeptSocket();
    const dispatcher = createDispatcher({ connect, socket });
    dispatchers.push(dispatcher);
    return { dispatcher, socket };
  };
  return {
    queue: new ConnectionQueue({ limit: MAX_CONNECTIONS, create }),
    async destroy() {
      await Promise.all(dispatchers.map((dispatcher) => dispatcher.destroy()));
    },
  };
}

type ConnectingOptions = Client.Options & { readonly connect: Connector };

/**
 * A client with its socket at hand. Aborting a request through undici costs another connection: undici keeps the
 * request in its queue, and connects again before it drops the request.
 */
function createKeptClient(
  { Client }: Undici,
  origin: string | URL,
  options: ConnectingOptions,
  kept: KeptSocket,
): Client {
  const connect = failOnce(options.connect);
  return new Client(origin, {
    ...options,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: (connectOptions, callback) =>
      connect(connectOptions, (...[error, socket]) => {
        if (error !== null) return callback(error, null);
        kept.opened(socket);
        return callback(error, socket);
      }),
  });
}

/**
 * Replaces the errors by whose code undici would not just fail the request. For a certificate of another name it
 * counts the request as running for ever, and after a broken socket it connects again at once, endlessly.
 */
function failOnce(connect: Connector): Connector {
  return (options, callback) =>
    connect(options, (...[error, socket]) => {
      if (error === null) return callback(error, socket);
      return callback(replaceError(error), null);
    });
}

function replaceError(error: Error & { readonly code?: unknown }): Error {
  const { code, message } = error;
  // Its code and text are found in the cause.
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return new Error('', { cause: error });
  // A proxy dropped the CONNECT, or answered with a status other than 200, whose code suggests that the caller aborted.
  return code === 'UND_ERR_SOCKET' || code === 'UND_ERR_ABORTED'
    ? Object.assign(new Error(message, { cause: error }), { code: 'PROXY_TUNNEL_FAILED' })
    : error;
}

/**
 * Loads the files of undici that define what is used here. All of undici takes four times as long, and sets
 * the dispatcher of the global `fetch`, which belongs to the application.
 */
async function loadUndici(): Promise<Undici> {
  try {
    const [client, connect] = await Promise.all([
      import('undici/lib/dispatcher/client.js'),
      import('undici/lib/core/connect.js'),
    ]);
    const parts = { Client: client.default, buildConnector: connect.default };
    if (Object.values(parts).every((part) => typeof part === 'function')) return parts;
  } catch {
    // The whole of undici has it.
  }
  // Its files are not part of its interface: a later version may have moved or changed them.
  const { Client, buildConnector } = await import('undici');
  return { Client, buildConnector };
}
