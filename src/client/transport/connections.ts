import type { Socket } from 'node:net';
import type { buildConnector, Client, Dispatcher } from 'undici';
import { type Connection, ConnectionQueue } from './connection-queue.js';
import { KEEP_ALIVE_MS, KeptSocket } from './kept-socket.js';
import type { OwnDispatchOptions, OwnRoute } from './undici.js';

/** The parts of undici that are used. */
export interface Undici {
  readonly Client: typeof Client;
  readonly buildConnector: typeof buildConnector;
}

export type Connector = buildConnector.connector;

// Enough for a thousand calls of 250 ms each per second, without a flood of sockets if the service stalls: further
// calls wait in the queue, within their deadline, and are not sent after it.
export const MAX_CONNECTIONS = 256;

// Shorter than the default deadline, which leaves time for a retry.
export const CONNECT_TIMEOUT_MS = 10_000;

// How long Node tries an address before it gives it up for the next: a slow address, or one whose first packet was lost
// and is repeated after a second, would never be reached in the 250 ms of Node's default.
const ADDRESS_TIMEOUT_MS = 1_500;

/** For connecting to a name that has several addresses; the application may have set a longer time. */
const tryingAddresses = () => ({
  autoSelectFamilyAttemptTimeout: Math.max(
    ADDRESS_TIMEOUT_MS,
    // Loaded when it is used, as an import would load the streams, too.
    process.getBuiltinModule('node:net').getDefaultAutoSelectFamilyAttemptTimeout(),
  ),
});

/**
 * One request at a time per connection, over HTTP/1.1: requests that share a connection share its failure, and
 * a request that was sent could not be told from one that was not.
 */
export const UNSHARED = { pipelining: 1, allowH2: false } as const;

/** The client's own connections, straight to the service. */
export async function createOwnRoute(origin: string, maxQueuedRequests: number): Promise<OwnRoute> {
  const undici = await loadUndici();
  const sockets = new Set<Socket>();
  const connect = createConnector(undici, sockets);
  const clients: Client[] = [];
  const create = (): Connection => {
    const connection = createConnection(undici, origin, { ...UNSHARED, connect });
    clients.push(connection.dispatcher);
    return connection;
  };
  return {
    queue: new ConnectionQueue({
      limit: MAX_CONNECTIONS,
      maxWaiting: maxQueuedRequests,
      create,
    }),
    isPooled: false,
    async destroy() {
      await Promise.all(clients.map((client) => client.destroy()));
      destroyAll(sockets);
    },
  };
}

/** Sends through the proxies that the environment names, by undici's agent for proxies. */
export async function createProxyRoute(maxQueuedRequests: number): Promise<OwnRoute> {
  // The agent needs all of undici.
  const undici = await import('undici');
  const { EnvHttpProxyAgent, Pool } = undici;
  const sockets = new Set<Socket>();
  const dispatcher = new EnvHttpProxyAgent({
    ...UNSHARED,
    connections: MAX_CONNECTIONS,
    connect: createConnector(undici, sockets),
    // For plain TCP too. Its type wants a port, which undici sets.
    proxyTls: tryingAddresses() as buildConnector.BuildOptions,
    factory: (origin: string | URL, options: object): Dispatcher =>
      new Pool(origin, {
        ...options,
        factory: (url, clientOptions) => createTellingClient(undici, url, clientOptions),
      }),
    clientFactory: (proxy: URL, { connect }: { connect?: Connector }): Dispatcher =>
      new Pool(proxy, {
        connect: keepSockets(connect as Connector, sockets),
        // For the answer to CONNECT, which is a part of connecting.
        headersTimeout: CONNECT_TIMEOUT_MS,
      }),
  });
  return {
    queue: new ConnectionQueue({
      limit: MAX_CONNECTIONS,
      maxWaiting: maxQueuedRequests,
      create: () => ({ dispatcher }),
    }),
    isPooled: true,
    async destroy() {
      await dispatcher.destroy();
      destroyAll(sockets);
    },
  };
}

/** A client that tells each request which socket sends it. */
function createTellingClient(undici: Undici, url: URL, options: object): Client {
  const { connect } = options as { connect: Connector };
  const { dispatcher, socket } = createConnection(undici, url, {
    ...options,
    connect: (connectOptions, callback) =>
      connect(connectOptions, (...[error, socket]) => {
        if (error === null) callback(error, socket);
        else callback(isTunnelError(error) ? tunnelFailed(error) : error, null);
      }),
  });
  const dispatch = dispatcher.dispatch.bind(dispatcher);
  dispatcher.dispatch = (request: OwnDispatchOptions, handler) => {
    request.handler.socket = socket;
    return dispatch(request, handler);
  };
  return dispatcher;
}

/** Whether a proxy dropped the CONNECT, or answered with a status other than 200. */
function isTunnelError({ code }: Error & { code?: unknown }): boolean {
  return code === 'UND_ERR_SOCKET' || code === 'UND_ERR_ABORTED';
}

/**
 * Replaces undici's error for a proxy. On its code for a broken socket, undici would reconnect at once, endlessly;
 * its code for a refusal suggests that the caller aborted.
 */
function tunnelFailed(cause: Error): Error {
  return Object.assign(new Error(cause.message, { cause }), { code: 'PROXY_TUNNEL_FAILED' });
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

/** Creates undici's connector, whose sockets are kept in the set. */
export function createConnector({ buildConnector }: Undici, sockets: Set<Socket>): Connector {
  const options = { timeout: CONNECT_TIMEOUT_MS, allowH2: false, ...tryingAddresses() };
  return keepSockets(buildConnector(options), sockets);
}

/** Wraps a connector, so that the set has its sockets until they are closed. */
export function keepSockets(connect: Connector, sockets: Set<Socket>): Connector {
  return (options, callback) => {
    // Returned at once by undici's own connectors, though their type does not say so.
    const socket = connect(options, callback) as unknown as Socket;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
}

/** Closes sockets that are still connecting, too: undici leaves them open, and they keep the process alive. */
export function destroyAll(sockets: ReadonlySet<Socket>): void {
  for (const socket of sockets) socket.destroy();
}

/**
 * A connection with its socket at hand. Aborting a request through undici costs another connection: undici keeps the
 * request in its queue, and connects again before it drops the request.
 */
export function createConnection(
  { Client }: Undici,
  origin: string | URL,
  options: Client.Options & { readonly connect: Connector },
): Connection & { readonly dispatcher: Client; readonly socket: KeptSocket } {
  const socket = new KeptSocket();
  const dispatcher = new Client(origin, {
    ...options,
    keepAliveTimeout: KEEP_ALIVE_MS,
    connect: (connectOptions, callback) =>
      options.connect(connectOptions, (...result: Parameters<buildConnector.Callback>) => {
        socket.opened(result[1]);
        callback(...result);
      }),
  });
  return { dispatcher, socket };
}
