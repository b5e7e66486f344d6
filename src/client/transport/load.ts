import type { ResolvedClientOptions } from '../options.js';
import { createFetchTransport } from './fetch.js';
import { createOwnRoute } from './own-route.js';
import type { Transport } from './transport.js';
import { createUndiciTransport } from './undici.js';

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
  // Bun answers this import with a module of its own whose Agent can't dispatch.
  if (typeof undici.Agent.prototype.dispatch !== 'function') {
    return createFetchTransport(globalThis.fetch, maxResponseBytes);
  }
  return createUndiciTransport(createOwnRoute(undici, maxQueuedRequests), maxResponseBytes);
}
