import type { ResolvedClientOptions } from '../options.js';
import { createFetchTransport } from './fetch.js';
import type { Transport } from './transport.js';
import { createUndiciTransport } from './undici.js';

// Enough for a thousand calls a second at 250 ms each, and no flood of sockets when the service
// stalls: further calls wait in the queue, inside their deadline, and are not sent when it passes.
const MAX_CONNECTIONS = 256;

// Shorter than the usual deadline, so that there is time for another try.
const CONNECT_TIMEOUT_MS = 10_000;

/**
 * Chooses the way to send. undici is imported here, at the client's first call: it takes several times as
 * long to load as the rest of the package, which a process that only verifies callbacks must not pay.
 */
export async function loadTransport(options: ResolvedClientOptions): Promise<Transport> {
  const { dispatcher, fetch, maxResponseBytes } = options;
  if (fetch !== undefined) return createFetchTransport(fetch, maxResponseBytes);
  if (dispatcher !== undefined) {
    return createUndiciTransport(dispatcher, { maxResponseBytes, owned: false });
  }
  const undici = await import('undici');
  // Bun answers this import with a module of its own whose Agent can't dispatch.
  if (typeof undici.Agent.prototype.dispatch !== 'function') {
    return createFetchTransport(globalThis.fetch, maxResponseBytes);
  }
  const agentOptions = {
    connections: MAX_CONNECTIONS,
    connect: { timeout: CONNECT_TIMEOUT_MS },
    // One request per connection at a time, over HTTP/1.1: a request that shares a connection
    // shares its failure, and could not be told from one that never went out.
    pipelining: 1,
    allowH2: false,
  };
  // An agent of the client's own, never the process-wide one: that may belong to another major
  // version of undici, whose handlers differ.
  const agent =
    process.env['NODE_USE_ENV_PROXY'] === '1'
      ? new undici.EnvHttpProxyAgent(agentOptions)
      : new undici.Agent(agentOptions);
  return createUndiciTransport(agent, { maxResponseBytes, owned: true });
}
