import { InvalidOptionError } from '../../errors.js';
import type { ResolvedClientOptions } from '../options.js';
import { createOwnRoute, createProxyRoute } from './connections.js';
import { createFetchTransport } from './fetch.js';
import type { Transport } from './transport.js';
import { createDispatcherTransport, createOwnTransport } from './undici.js';

/**
 * Chooses the transport. undici is loaded at the client's first call, since it takes several times as long as
 * the rest of the package, and a process that only verifies callbacks does not need it.
 */
export async function loadTransport(options: ResolvedClientOptions): Promise<Transport> {
  const { baseUrl, dispatcher, fetch, maxResponseBytes } = options;
  if (fetch !== undefined) return createFetchTransport(fetch, maxResponseBytes);
  if (dispatcher !== undefined) return createDispatcherTransport(dispatcher, maxResponseBytes);
  // Bun replaces undici with its own module, which can't dispatch.
  if (process.versions['bun'] !== undefined) {
    return createFetchTransport(globalThis.fetch, maxResponseBytes);
  }
  if (!usesEnvProxy()) {
    return createOwnTransport(await createOwnRoute(baseUrl.origin), maxResponseBytes);
  }
  assertProxies();
  return createOwnTransport(await createProxyRoute(), maxResponseBytes);
}

/** Why undici could not be loaded, and what to do. */
export function describeLoadFailure(cause: unknown): string {
  const [why] = String((cause as Error).message).split('\n', 1) as [string];
  // esbuild's stand-in for `require`, which ES modules lack.
  const remedy = why.startsWith('Dynamic require of')
    ? 'esbuild needs a banner to bundle it into an ES module, which docs/connections.md shows'
    : "install the package's dependencies, or pass the client a fetch";
  return `undici can't be loaded (${why}); ${remedy}`;
}

/**
 * undici's error for a URL that it can't parse would quote it, password included. For a SOCKS proxy it would use other
 * dispatchers, which follow none of the rules above.
 *
 * @throws {InvalidOptionError} which does not show the value
 */
function assertProxies(): void {
  for (const name of ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY']) {
    const value = process.env[name];
    if (!value || isHttpProxy(value)) continue;
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

/** Whether Node uses the proxies of the environment. */
function usesEnvProxy(): boolean {
  const { env, execArgv } = process;
  const options = [...(env['NODE_OPTIONS'] ?? '').split(/\s+/), ...execArgv];
  return env['NODE_USE_ENV_PROXY'] === '1' || options.includes('--use-env-proxy');
}
