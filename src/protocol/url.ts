import { InvalidOptionError } from '../errors.js';
import { invalidOption, type Rule } from './options.js';
import { trimEnd } from './plain-text.js';

/**
 * Parses a URL; `undefined` for what is none. URL.canParse is no help: once Node 20 has compiled a busy caller, it
 * refuses every text with a letter such as ü.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Parses an absolute http or https URL, given as text or as a URL; `undefined` for anything else. */
export function parseHttpUrl(value: unknown): URL | undefined {
  if (typeof value !== 'string' && !(value instanceof URL)) return undefined;
  const url = parseUrl(String(value));
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url : undefined;
}

/** An http or https URL without credentials, which would appear in messages and logs. */
const urlLike =
  (example: string, remedy = ''): Rule<URL> =>
  (value, option) => {
    const url = parseHttpUrl(value);
    if (url === undefined) {
      throw invalidOption(option, `an absolute http or https URL, such as ${example}`, value);
    }
    if (url.username === '' && url.password === '') return url;
    throw new InvalidOptionError(
      option,
      `${option} must not hold a user name or password${remedy}`,
    );
  };

export const httpUrl: Rule<URL> = /* @__PURE__ */ urlLike('http://127.0.0.1:3000/callbacks');

const OCTET = '(?:25[0-5]|2[0-4]\\d|1\\d\\d|[1-9]?\\d)';
const IPV4 = `127(?:\\.${OCTET}){3}`;
// A URL spells an IPv4-mapped address in hexadecimal, and a socket in decimal numbers.
const IPV6 = `::1|::ffff:(?:${IPV4}|7f[\\da-f]{2}:[\\da-f]{1,4})`;
const LOOPBACK = new RegExp(`^(?:${IPV4}|${IPV6}|\\[(?:${IPV6})\\])$`, 'i');

/** Whether an IP address is a loopback address. */
export function isLoopbackAddress(address: string): boolean {
  return LOOPBACK.test(address);
}

/**
 * Whether a host name or address means this machine. A name under `.localhost`, or with a full stop at its end,
 * does not: a resolver may send it to another machine.
 */
export function isLoopback(host: string): boolean {
  return host.toLowerCase() === 'localhost' || isLoopbackAddress(host);
}

/** A parsed base URL. */
export interface BaseUrl {
  /** What `console.log(client)` shows. */
  readonly href: string;
  readonly origin: string;
  /** Without a trailing slash; empty if the service is at the root. */
  readonly pathPrefix: string;
}

const serviceUrl = /* @__PURE__ */ urlLike(
  'https://payments.example',
  '; pass them as apiKey and apiSecret',
);

/** A URL without query and fragment. Messages never quote it: it may contain a password. */
export const baseUrl: Rule<BaseUrl> = (value, option) => {
  const url = serviceUrl(value, option);
  // Tested on the text, since a URL's parts do not show an empty query or fragment.
  if (/[?#]/.test(String(value))) {
    const rule = 'must not have a query or fragment; end it with the path';
    throw new InvalidOptionError(option, `${option} ${rule}`);
  }
  const pathPrefix = trimEnd(url.pathname, '/');
  return Object.freeze({ href: `${url.origin}${pathPrefix}`, origin: url.origin, pathPrefix });
};
