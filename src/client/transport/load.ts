import type { Socket } from 'node:net';
import type * as undiciModule from 'undici';
import type { buildConnector, Dispatcher } from 'undici';
import type { ResolvedClientOptions } from '../options.js';
import { createFetchTransport } from './fetch.js';
import { RequestQueue } from './request-queue.js';
import type { Transport } from './transport.js';
import { createUndiciTransport, type OwnDispatchOptions, type Route } from './undici.js';

/**
 * Chooses the way to send. undici is imported here, at the client's first call: it takes several times as
 * long to load as the rest of the package, which a process that only verifies callbacks must not pay.
 */
export async function loadTransport(options: ResolvedClientOptions): Promise<Transport> {
  const { dispatcher, fetch, maxResponseBytes, maxQueuedRequests } = options;
  if (fetch !== undefined) return createFetchTransport(fetch, maxResponseBytes);
  if (dispatcher !== undefined) {
    return createUndiciTransport({ dispatcher }, maxResponseBytes);
  }
  const undici = await import('undici');
  // On Bun this import gives Bun's own module, whose Agent can't dispatch.
  if (typeof undici.Agent.prototype.dispatch !== 'function') {
    return createFetchTransport(globalThis.fetch, maxResponseBytes);
  }
  return createUndiciTransport(createOwnRoute(undici, maxQueuedRequests), maxResponseBytes);
}

// Enough for a thousand calls a second at 250 ms each, and no flood of sockets when the service
// stalls: further calls wait in the queue, inside their deadline, and are not sent once it has passed.
const MAX_IN_FLIGHT = 256;

// Shorter than the usual deadline, so that there is time for another try.
const CONNECT_TIMEOUT_MS = 10_000;

type Undici = typeof undiciModule;
type Connector = buildConnector.connector;

/**
 * The client's own dispatcher, never the process-wide one: that may belong to another major version of
 * undici, whose handlers differ.
 */
function createOwnRoute(undici: Undici, maxQueuedRequests: number): Route {
  const { Agent, EnvHttpProxyAgent, Pool, buildConnector } = undici;
  const sockets = new Set<Socket>();
  const agentOptions = {
    connections: MAX_IN_FLIGHT,
    connect: keepSockets(buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false }), sockets),
    // One request per connection at a time, over HTTP/1.1: a request that shares a connection
    // shares its failure, and could not be told from one that never went out.
    pipelining: 1,
    allowH2: false,
    factory: (origin: string | URL, options: object): Dispatcher =>
      new Pool(origin, {
        ...options,
        factory: (url, clientOptions) => createCuttableClient(undici, url, clientOptions),
      }),
  };
  const dispatcher = usesEnvProxy(process)
    ? new EnvHttpProxyAgent({
        ...agentOptions,
        clientFactory: (proxy: URL, { connect }: { connect?: Connector }): Dispatcher =>
          new Pool(proxy, {
            connect: keepSockets(connect as Connector, sockets),
            // For the answer to CONNECT, which belongs to connecting.
            headersTimeout: CONNECT_TIMEOUT_MS,
          }),
      })
    : new Agent(agentOptions);
  return {
    dispatcher,
    queue: new RequestQueue({ limit: MAX_IN_FLIGHT, maxWaiting: maxQueuedRequests }),
    async destroy() {
      await dispatcher.destroy();
      // undici leaves those alone that are still connecting, and they would keep the process alive.
      for (const socket of sockets) socket.destroy();
    },
  };
}

/** The same connector, which keeps the sockets that are not closed yet in the set. */
function keepSockets(connect: Connector, sockets: Set<Socket>): Connector {
  return (options, callback) => {
    // Returned at once by undici's own connectors, though their type does not say so.
    const socket = connect(options, callback) as unknown as Socket;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
}

function isSocketError({ code }: Error & { code?: unknown }): boolean {
  return code === 'UND_ERR_SOCKET';
}

/**
 * In place of the error of a proxy that drops the CONNECT: after one with undici's own code for a
 * broken socket, undici connects again at once, without end.
 */
function tunnelFailed(cause: Error): Error {
  return Object.assign(new Error(cause.message, { cause }), { code: 'PROXY_TUNNEL_FAILED' });
}

/**
 * A client that lets each request cut its connection. To abort a request through undici costs another
 * connection: undici keeps it in its queue, and connects again for it before it is dropped.
 */
function createCuttableClient({ Client }: Undici, url: URL, options: object): Dispatcher {
  const { connect } = options as { connect: Connector };
  let socket: Socket | null = null;
  const client = new Client(url, {
    ...options,
    connect: (connectOptions, callback) =>
      connect(connectOptions, (...result: Parameters<buildConnector.Callback>) => {
        socket = result[1];
        const [error] = result;
        if (error !== null && isSocketError(error)) callback(tunnelFailed(error), null);
        else callback(...result);
      }),
  });
  const cut = (reason: Error): void => void socket?.destroy(reason);
  const dispatch = client.dispatch.bind(client);
  client.dispatch = (request: OwnDispatchOptions, handler) => {
    request.handler.cut = cut;
    return dispatch(request, handler);
  };
  return client;
}

const FLAG = /^--(no-)?use[-_]env[-_]proxy$/;

/**
 * Whether Node was told to use the proxies of the environment: by `NODE_USE_ENV_PROXY=1`, or by
 * `--use-env-proxy` in NODE_OPTIONS or on the command line, of which the last one holds.
 */
export function usesEnvProxy({
  env,
  execArgv,
}: {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly execArgv: readonly string[];
}): boolean {
  if (env['NODE_USE_ENV_PROXY'] === '1') return true;
  const options = [...(env['NODE_OPTIONS'] ?? '').split(/\s+/), ...execArgv];
  const last = options.map((option) => FLAG.exec(option)).findLast((match) => match !== null);
  return last !== null && last !== undefined && last[1] === undefined;
}
