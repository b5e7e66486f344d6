import { InvalidOptionError } from '../../errors.js';

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
