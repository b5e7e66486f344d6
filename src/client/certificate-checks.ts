import { InvalidOptionError } from '../errors.js';
import { isLoopback } from '../protocol/url.js';

const VARIABLE = 'NODE_TLS_REJECT_UNAUTHORIZED';

/**
 * Node reads the variable whenever it connects, so it may be set after the client was made.
 *
 * @throws {InvalidOptionError} if the variable makes Node send the API secret to whoever answers in the service's place
 */
export function assertCertificateChecks(baseUrl: string): void {
  if (globalThis.process?.env[VARIABLE] !== '0') return;
  const { protocol, hostname } = new URL(baseUrl);
  if (protocol !== 'https:' || isLoopback(hostname)) return;
  throw new InvalidOptionError(
    VARIABLE,
    `${VARIABLE} must not be 0, since the API secret would go to any server, whatever its certificate; name your CA in NODE_EXTRA_CA_CERTS, or pass a dispatcher or fetch of your own for a test network`,
  );
}
