import { InvalidOptionError } from '../errors.js';
import { invalidOption, type Rule } from './options.js';

/** The URL that an absolute http or https URL is, given as text or as a URL. */
export function parseHttpUrl(value: unknown): URL | undefined {
  const isUrl = value instanceof URL || (typeof value === 'string' && URL.canParse(value));
  if (!isUrl) return undefined;
  const url = new URL(value);
  return url.protocol === 'http:' || url.protocol === 'https:' ? url : undefined;
}

/** An http or https URL without credentials, which would stand in messages and logs. */
export const httpUrl: Rule<URL> = (value, option) => {
  const url = parseHttpUrl(value);
  if (url === undefined) {
    const example = 'http://127.0.0.1:3000/callbacks';
    throw invalidOption(option, `an http or https URL such as ${example}`, value);
  }
  if (url.username === '' && url.password === '') return url;
  throw new InvalidOptionError(option, `${option} must not hold a user name or password`);
};

/** Whether an IP address is one of this machine alone. */
export function isLoopbackAddress(address: string): boolean {
  return /^(?:127\.\d+\.\d+\.\d+|::1|\[::1\])$/.test(address);
}

/** Whether a host, by name or address, is this machine. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host.endsWith('.localhost') || isLoopbackAddress(host);
}

/** A base URL, taken apart once. */
export interface BaseUrl {
  /** What `console.log(client)` shows. */
  readonly href: string;
  readonly origin: string;
  /** Without a slash at its end; empty when the service lives at the root. */
  readonly pathPrefix: string;
}

/**
 * An http or https URL without credentials, query and fragment. Its value is never quoted: it may hold
 * a password.
 */
export const baseUrl: Rule<BaseUrl> = (value, option) => {
  const example = 'such as https://payments.example';
  const isText = typeof value === 'string' && value.trim() !== '';
  if (!isText && !(value instanceof URL)) {
    throw invalidOption(option, `the service's address, ${example}`, value);
  }
  const href = String(value);
  const url = parseHttpUrl(href);
  if (url === undefined) {
    throw invalidOption(option, `an absolute http or https URL, ${example}`, href);
  }
  const refuse = (rule: string) => new InvalidOptionError(option, `${option} must not ${rule}`);
  if (url.username !== '' || url.password !== '') {
    throw refuse('hold a user name or password; pass them as apiKey and apiSecret');
  }
  // Also an empty one, which the parts of a URL do not show.
  if (/[?#]/.test(href)) throw refuse('have a query or fragment; end it with the path');
  const pathPrefix = url.pathname.replace(/\/+$/, '');
  return Object.freeze({ href: `${url.origin}${pathPrefix}`, origin: url.origin, pathPrefix });
};
