import { assertCertificateChecks } from '../certificate-checks.js';
import type { ResolvedClientOptions } from '../options.js';
import { createOwnRoute, createProxyRoute } from './connections.js';
import { assertProxies, usesEnvProxy } from './env-proxy.js';
import { createFetchTransport } from './fetch.js';
import type { Transport } from './transport.js';
import { createDispatcherTransport, createOwnTransport } from './undici.js';

/**
 * Chooses the transport. undici is loaded at the client's first call, since it takes several times as long as
 * the rest of the package, and a process that only verifies callbacks does not need it.
 */
export async function loadTransport(options: ResolvedClientOptions): Promise<Transport> {
  const { baseUrl, dispatcher, fetch, maxResponseBytes, maxQueuedRequests } = options;
  if (fetch !== undefined) return createFetchTransport(fetch, maxResponseBytes);
  if (dispatcher !== undefined) return createDispatcherTransport(dispatcher, maxResponseBytes);
  assertCertificateChecks(baseUrl.href);
  // Bun replaces undici with its own module, which can't dispatch.
  if (process.versions['bun'] !== undefined) {
    return createFetchTransport(globalThis.fetch, maxResponseBytes);
  }
  const viaProxy = usesEnvProxy(process);
  if (viaProxy) assertProxies(process.env);
  const route = viaProxy
    ? await createProxyRoute(maxQueuedRequests)
    : await createOwnRoute(baseUrl.origin, maxQueuedRequests);
  return createOwnTransport(route, maxResponseBytes);
}

/** Why undici could not be loaded, and what to do. */
export function describeLoadFailure(cause: unknown): string {
  const why = cause instanceof Error ? cause.message.split('\n', 1)[0] : 'unknown cause';
  // esbuild's stand-in for `require`, which ES modules lack.
  const remedy = why?.startsWith('Dynamic require of')
    ? 'esbuild needs a banner to bundle it into an ES module, which docs/create-payments.md shows'
    : "install the package's dependencies, or pass the client a fetch";
  return `undici can't be loaded (${why}); ${remedy}`;
}
