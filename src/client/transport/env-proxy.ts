import type { Socket } from 'node:net';
import type { Client, Dispatcher } from 'undici';
import { InvalidOptionError } from '../../errors.js';
import { ConnectionQueue } from './connection-queue.js';
import {
  CONNECT_TIMEOUT_MS,
  type Connector,
  createConnection,
  createConnector,
  destroyAll,
  keepSockets,
  MAX_CONNECTIONS,
  UNSHARED,
  type Undici,
} from './connections.js';
import type { OwnDispatchOptions, OwnRoute } from './undici.js';

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
    factory: (origin: string | URL, options: object): Dispatcher =>
      new Pool(origin, {
        ...options,
        factory: (url, clientOptions) => createCuttableClient(undici, url, clientOptions),
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

/** A client that tells each request how to cut the connection that sends it. */
function createCuttableClient(undici: Undici, url: URL, options: object): Client {
  const { connect } = options as { connect: Connector };
  const { dispatcher, cut } = createConnection(undici, url, {
    ...options,
    connect: (connectOptions, callback) =>
      connect(connectOptions, (...[error, socket]) => {
        if (error === null) callback(error, socket);
        else callback(isTunnelError(error) ? tunnelFailed(error) : error, null);
      }),
  });
  const dispatch = dispatcher.dispatch.bind(dispatcher);
  dispatcher.dispatch = (request: OwnDispatchOptions, handler) => {
    request.handler.cut = cut;
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

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Checks the proxies as undici reads them. undici's error for a URL that it can't parse would quote it, password
 * included. For a SOCKS proxy it would use dispatchers of its own, which follow none of the rules above.
 *
 * @throws {InvalidOptionError} which does not show the value
 */
export function assertProxies(env: Environment): void {
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
 * Whether Node should use the proxies of the environment, by the rules of Node 24: the last `--use-env-proxy` or
 * `--no-use-env-proxy` in NODE_OPTIONS or on the command line decides, otherwise `NODE_USE_ENV_PROXY=1`.
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
