import { isIP } from 'node:net';
import { isLoopbackAddress, parseUrl } from '../../protocol/url.js';
import type { PlainRequest } from '../api/http-messages.js';

/** The pages: the only paths that another site may link to. */
const PAGE_PATH = /^\/_mock(?:\/(?:pay\/[^/]+)?)?$/;

/** Where the service listens. */
export interface ListenAddress {
  readonly host: string;
  /** What `host` resolved to. */
  readonly address: string;
}

/** Whether a browser sent the request. It marks what a page sends, and Node's fetch has one of the marks too. */
export function isFromBrowser({ headers }: GuardedRequest): boolean {
  for (const name in headers) {
    if (name === 'origin') return true;
    if (!name.startsWith('sec-fetch-')) continue;
    if (name !== 'sec-fetch-mode' || headers[name] !== 'cors') return true;
  }
  return false;
}

type GuardedRequest = Pick<PlainRequest, 'method' | 'path' | 'headers'>;

/**
 * Returns why a request must not be answered, or `undefined` when it may. The control interface asks for no
 * credentials, and a browser lets any page send requests to this machine. Origin and Sec-Fetch-Site reveal such a
 * page, and Host reveals one whose domain resolves to this machine (DNS rebinding).
 */
export function findIntrusion(request: GuardedRequest, listens: ListenAddress): string | undefined {
  const { headers } = request;
  const authority = headers['host'] ?? '';
  if (!isExpectedHost(authority, listens)) {
    return `The Host header must name this machine, such as 127.0.0.1 or localhost${isLoopbackAddress(listens.address) ? '' : ', its address or the host option'}`;
  }
  if (headers['origin'] !== undefined && !isOwnOrigin(headers['origin'], authority)) {
    return 'The Origin header must be that of this service: pages of other sites are refused';
  }
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isVisit(request)) {
    return 'The request must not come from a page of another site';
  }
  return undefined;
}

function isExpectedHost(authority: string, { host, address }: ListenAddress): boolean {
  const name = hostnameOf(authority);
  if (name === undefined) return false;
  if (name === 'localhost' || isLoopbackAddress(name)) return true;
  // Rebinding needs a name; an address can't point elsewhere.
  if (!isLoopbackAddress(address) && isIP(name) !== 0) return true;
  return name === host.toLowerCase();
}

// The port may differ from the one listened on: a tunnel or a container may map it.
function hostnameOf(authority: string): string | undefined {
  if (/[/?#@\\]/.test(authority)) return undefined;
  return parseUrl(`http://${authority}`)
    ?.hostname.replace(/^\[(.*)\]$/, '$1')
    .replace(/\.$/, '');
}

function isOwnOrigin(origin: string, authority: string): boolean {
  return origin.toLowerCase() === `http://${authority.toLowerCase()}`;
}

/** A link on another site may open a page, which that site can neither read nor frame. */
function isVisit({ method, path, headers }: GuardedRequest): boolean {
  return method === 'GET' && PAGE_PATH.test(path) && headers['sec-fetch-mode'] === 'navigate';
}
