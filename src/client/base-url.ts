import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';

/** A base URL, taken apart once. */
export interface BaseUrl {
  /** What `console.log(client)` shows. */
  readonly href: string;
  readonly origin: string;
  /** Without a slash at its end; empty when the service lives at the root. */
  readonly pathPrefix: string;
}

/**
 * @throws {InvalidOptionError} for anything but an http(s) URL without credentials, query and
 * fragment, and for http: beyond this machine unless `allowHttp`
 */
export function parseBaseUrl(value: unknown, allowHttp: boolean): BaseUrl {
  const url = toUrl(value);
  if (url.username !== '' || url.password !== '') {
    throw refuse(
      'must not carry credentials',
      'one with a user name or password',
      'pass them as apiKey and apiSecret',
    );
  }
  // Also an empty one, which the parts of a URL do not show.
  if (/[?#]/.test(String(value))) {
    throw refuse(
      'must not carry a query or fragment',
      'one with "?" or "#"',
      'end it with the path',
    );
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw refuse('must be an https: URL', `one with ${url.protocol}`, 'check its beginning');
  }
  if (url.protocol === 'http:' && !allowHttp && !isLoopback(url.hostname)) {
    throw refuse(
      'must be an https: URL',
      'an http: URL to another machine',
      'http: would send the API secret in clear text; use https:, or set dangerouslyAllowHttp for a test network',
    );
  }
  const pathPrefix = url.pathname.replace(/\/+$/, '');
  return Object.freeze({ href: `${url.origin}${pathPrefix}`, origin: url.origin, pathPrefix });
}

// The value itself is never quoted: it may hold a password.
function refuse(rule: string, came: string, remedy: string): InvalidOptionError {
  return new InvalidOptionError('baseUrl', `baseUrl ${rule}, but ${came} came; ${remedy}`);
}

function toUrl(value: unknown): URL {
  const isText = typeof value === 'string' && value.trim() !== '';
  if (!isText && !(value instanceof URL)) {
    throw refuse(
      "must be the service's address, such as https://payments.example",
      describeValue(value),
      'pass it, or set MERCHANT_PAYMENTS_BASE_URL and use PaymentClient.fromEnv()',
    );
  }
  const text = String(value);
  if (!URL.canParse(text)) {
    throw refuse(
      'must be an absolute URL, such as https://payments.example',
      `${describeValue(text)} that does not parse as one`,
      'check its spelling and that it begins with https://',
    );
  }
  return new URL(text);
}

function isLoopback(hostname: string): boolean {
  return (
    hostname === 'localhost' ||
    hostname.endsWith('.localhost') ||
    hostname === '[::1]' ||
    /^127\.\d+\.\d+\.\d+$/.test(hostname)
  );
}
