import type { Socket } from 'node:net';
import type { buildConnector, Dispatcher } from 'undici';
import { usesEnvProxy } from './env-proxy.js';
import { RequestQueue } from './request-queue.js';
import type { Route } from './undici.js';

// Enough for a thousand calls a second at 250 ms each, and no flood of sockets when the service
// stalls: further calls wait in the queue, inside their deadline, and are not sent when it passes.
const MAX_IN_FLIGHT = 256;

// Shorter than the usual deadline, so that there is time for another try.
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * A dispatcher of the client's own, never the process-wide one: that may belong to another major
 * version of undici, whose handlers differ.
 */
export function createOwnRoute(
  { Agent, EnvHttpProxyAgent, Pool, buildConnector }: typeof import('undici'),
  maxQueuedRequests: number,
): Route {
  const sockets = new Set<Socket>();
  const agentOptions = {
    // undici counts a connection until its socket has closed: with room for those that are closing
    // it dispatches at once whatever the queue lets out.
    connections: 2 * MAX_IN_FLIGHT,
    connect: keepSockets(buildConnector({ timeout: CONNECT_TIMEOUT_MS, allowH2: false }), sockets),
    // One request per connection at a time, over HTTP/1.1: a request that shares a connection
    // shares its failure, and could not be told from one that never went out.
    pipelining: 1,
    allowH2: false,
  };
  const dispatcher = usesEnvProxy(process)
    ? new EnvHttpProxyAgent({
        ...agentOptions,
        clientFactory: (origin: URL, options: { connect?: buildConnector.connector }): Dispatcher =>
          new Pool(origin, {
            ...options,
            connect: keepSockets(options.connect as buildConnector.connector, sockets),
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
function keepSockets(
  connect: buildConnector.connector,
  sockets: Set<Socket>,
): buildConnector.connector {
  return (options, callback) => {
    // Returned at once by undici's own connectors, though their type does not say so.
    const socket = connect(options, callback) as unknown as Socket;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    return socket;
  };
}
