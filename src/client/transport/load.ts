import type { Socket } from 'node:net';
import type { Agent, buildConnector, Client, Dispatcher, EnvHttpProxyAgent, Pool } from 'undici';
import { InvalidOptionError } from '../../errors.js';
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
  // Bun puts a module of its own in undici's place, whose Agent can't dispatch.
  if (process.versions['bun'] !== undefined) {
    return createFetchTransport(globalThis.fetch, maxResponseBytes);
  }
  const viaProxy = usesEnvProxy(process);
  if (viaProxy) assertProxies(process.env);
  const route = createOwnRoute(await loadUndici(viaProxy), maxQueuedRequests);
  return createUndiciTransport(route, maxResponseBytes);
}

interface Undici {
  readonly Agent: typeof Agent;
  readonly Client: typeof Client;
  readonly Pool: typeof Pool;
  readonly buildConnector: typeof buildConnector;
  /** Undefined where the proxies of the environment are not used. */
  readonly EnvHttpProxyAgent?: typeof EnvHttpProxyAgent;
}

/**
 * Loads the files of undici that define what is used here. All of undici takes four times as long, and sets
 * the dispatcher of the global `fetch`, which belongs to the application.
 */
async function loadUndici(viaProxy: boolean): Promise<Undici> {
  // Its agents for proxies work with all of it alone.
  if (viaProxy) return import('undici');
  try {
    const [agent, client, pool, connect] = await Promise.all([
      import('undici/lib/dispatcher/agent.js'),
      import('undici/lib/dispatcher/client.js'),
      import('undici/lib/dispatcher/pool.js'),
      import('undici/lib/core/connect.js'),
    ]);
    const parts = {
      Agent: agent.default,
      Client: client.default,
      Pool: pool.default,
      buildConnector: connect.default,
    };
    if (Object.values(parts).every((part) => typeof part === 'function')) return parts;
  } catch {
    // What is missing is taken from the whole.
  }
  // Its files are not part of its interface: a later version may have moved or changed them.
  const { Agent, Client, Pool, buildConnector } = await import('undici');
  return { Agent, Client, Pool, buildConnector };
}

// Enough for a thousand calls a second at 250 ms each, and no flood of sockets when the service
// stalls: further calls wait in the queue, inside their deadline, and are not sent once it has passed.
const MAX_IN_FLIGHT = 256;

// Shorter than the usual deadline, so that there is time for another try.
const CONNECT_TIMEOUT_MS = 10_000;

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
  const dispatcher =
    EnvHttpProxyAgent === undefined
      ? new Agent(agentOptions)
      : new EnvHttpProxyAgent({
          ...agentOptions,
          clientFactory: (proxy: URL, { connect }: { connect?: Connector }): Dispatcher =>
            new Pool(proxy, {
              connect: keepSockets(connect as Connector, sockets),
              // For the answer to CONNECT, which belongs to connecting.
              headersTimeout: CONNECT_TIMEOUT_MS,
            }),
        });
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

/** Whether a proxy dropped the CONNECT, or answered it with another status than 200. */
function isTunnelError({ code }: Error & { code?: unknown }): boolean {
  return code === 'UND_ERR_SOCKET' || code === 'UND_ERR_ABORTED';
}

/**
 * In place of undici's error of a proxy: after one with undici's own code for a broken socket, undici
 * connects again at once, without end; and the code of a refusal reads as if the caller had aborted.
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
        if (error !== null && isTunnelError(error)) callback(tunnelFailed(error), null);
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

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * As undici reads them, which would give a URL that it can't parse in an error, password and all. Through a
 * SOCKS proxy it would send by dispatchers of its own, which keep none of the rules above.
 *
 * @throws {InvalidOptionError} which does not show the value
 */
function assertProxies(env: Environment): void {
  for (const names of [
    ['http_proxy', 'HTTP_PROXY'],
    ['https_proxy', 'HTTPS_PROXY'],
  ]) {
    const name = names.find((candidate) => env[candidate] !== undefined);
    if (name === undefined || !env[name] || isHttpProxy(env[name])) continue;
    throw new InvalidOptionError(
      name,
      `${name} must be the URL of a proxy that begins with http:// or https://, with special characters of its user and password percent-encoded`,
    );
  }
}

function isHttpProxy(text: string): boolean {
  try {
    const { protocol, username, password } = new URL(text);
    decodeURIComponent(username + password);
    return protocol === 'http:' || protocol === 'https:';
  } catch {
    return false;
  }
}

const FLAG = /^--(?:no-)?use[-_]env[-_]proxy$/;

/**
 * Whether Node was told to use the proxies of the environment: by `--use-env-proxy` in NODE_OPTIONS or on
 * the command line, of which the last one holds, else by `NODE_USE_ENV_PROXY=1`. As Node 24 has it.
 */
export function usesEnvProxy({
  env,
  execArgv,
}: {
  readonly env: Environment;
  readonly execArgv: readonly string[];
}): boolean {
  const options = [...(env['NODE_OPTIONS'] ?? '').split(/\s+/), ...execArgv];
  const last = options.findLast((option) => FLAG.test(option));
  return last === undefined ? env['NODE_USE_ENV_PROXY'] === '1' : !last.startsWith('--no');
}
