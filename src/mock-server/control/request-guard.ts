import type { IncomingHttpHeaders } from 'node:http';
import { isIP } from 'node:net';

/** Where the page is, with and without its slash: all that another site may lead a browser to. */
const PAGE_PATHS: readonly string[] = ['/_mock/', '/_mock'];

/** Where the service listens. */
export interface ListenAddress {
  /** As it was told to. */
  readonly host: string;
  /** What that turned out to be. */
  readonly address: string;
}

interface GuardedRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly listens: ListenAddress;
}

const LOOPBACK_IPV4 = /^127(?:\.\d{1,3}){3}$/;

/**
 * Says why a request must not reach the control interface, which asks for no credentials; nothing
 * when it may. A browser carries requests of any page to this machine: by its Origin and
 * Sec-Fetch-Site headers such a page is known, and by the Host header one that had its own name
 * resolve to this machine (DNS rebinding).
 */
export function findIntrusion(request: GuardedRequest): string | undefined {
  const { headers, listens } = request;
  const authority = headers.host ?? '';
  if (!isExpectedHost(authority, listens)) {
    return `The Host header must name this machine, such as 127.0.0.1 or localhost${isLoopback(listens.address) ? '' : ', by its address, or as the host option does'}`;
  }
  if (headers.origin !== undefined && !isOwnOrigin(headers.origin, authority)) {
    return 'The Origin header must be the one of this service: a page of another site must not use it';
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
  if (name === 'localhost' || isLoopback(name)) return true;
  // A name is what rebinding needs; an address can't be made to point elsewhere.
  if (!isLoopback(address) && isIP(name) !== 0) return true;
  return name === host.toLowerCase();
}

// The port may be another than the one that is listened on: a tunnel or a container maps it.
function hostnameOf(authority: string): string | undefined {
  if (/[/?#@\\]/.test(authority) || !URL.canParse(`http://${authority}`)) return undefined;
  const { hostname } = new URL(`http://${authority}`);
  return hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
}

function isLoopback(host: string): boolean {
  return host === '::1' || LOOPBACK_IPV4.test(host);
}

function isOwnOrigin(origin: string, authority: string): boolean {
  return origin.toLowerCase() === `http://${authority.toLowerCase()}`;
}

/** A link that was followed: it shows the page, which holds nothing, and learns nothing. */
function isVisit({ method, path, headers }: GuardedRequest): boolean {
  return method === 'GET' && PAGE_PATHS.includes(path) && headers['sec-fetch-mode'] === 'navigate';
}
