import { type HttpHandler, HttpResponse, http, passthrough } from 'msw';
import { InvalidOptionError } from '../errors.js';
import type { MockService } from '../mock-server/mock-service.js';
import { type MockServiceOptions, serviceOptionNames } from '../mock-server/options.js';
import { createMockService } from '../mock-server/service.js';
import {
  assertFunction,
  assertKnownOptions,
  assertOptionsObject,
  type OptionNames,
} from '../protocol/assert-option.js';
import { describeValue } from '../protocol/describe-value.js';
import { PAYMENTS_PATH } from '../protocol/wire.js';

/** Options of {@link paymentServiceHandlers}. Those of the service make one; `service` takes yours. */
export interface PaymentServiceHandlersOptions extends MockServiceOptions {
  /**
   * The service's base address, http or https, with a path prefix if it has one. Every path below it
   * is answered: an unknown one with 404.
   * @default none: `/api/payments` is answered at every address, and nothing else
   */
  baseUrl?: string | undefined;
  /**
   * The service to answer from, to look at payments, set statuses and add faults. Not together
   * with options of the service.
   * @default a new one of the options given
   */
  service?: MockService | undefined;
}

const NAMES: OptionNames<PaymentServiceHandlersOptions> = {
  ...serviceOptionNames,
  baseUrl: true,
  service: true,
};

/**
 * The mock service as msw handlers (interface section 4.1), for msw 2 and 3.
 *
 * msw sees the global `fetch` and `node:http`, but not undici: give the client
 * `fetch: globalThis.fetch`, or its requests go to the real address. Callbacks of the service go
 * out over `node:http`, which msw sees too; when callbackUrl is set by now, a further handler lets
 * them pass to your endpoint.
 *
 * @throws {InvalidOptionError} when an option can't be right
 *
 * @example
 * ```ts
 * import { createMockService, paymentServiceHandlers } from 'merchant-payments/msw';
 * import { setupServer } from 'msw/node';
 *
 * const service = createMockService();
 * const network = setupServer(...paymentServiceHandlers({ baseUrl: 'https://pay.example', service }));
 * network.listen();
 * ```
 */
export function paymentServiceHandlers(options: PaymentServiceHandlersOptions = {}): HttpHandler[] {
  assertOptionsObject('options', options, 'baseUrl, service or the options of a service');
  assertKnownOptions(options, NAMES);
  const { baseUrl, service: given, ...serviceOptions } = options;
  const base = baseUrl === undefined ? undefined : parseBaseUrl(baseUrl);
  const service = given === undefined ? createMockService(serviceOptions) : given;
  assertService(service, given === undefined ? {} : serviceOptions);

  const answer = async ({ request }: { request: Request }): Promise<Response> => {
    try {
      return await service.fetch(withoutPrefix(request, base));
    } catch {
      return HttpResponse.error();
    }
  };
  const handlers = [http.all(base === undefined ? `*${PAYMENTS_PATH}` : below(base), answer)];
  const { callbackUrl } = service;
  return callbackUrl === undefined
    ? handlers
    : [...handlers, http.post(exactly(new URL(callbackUrl)), () => passthrough())];
}

function assertService(service: MockService, stray: object): void {
  assertFunction('service.fetch', service?.fetch, 'of a service made by createMockService');
  const [option] = Object.entries(stray).find(([, value]) => value !== undefined) ?? [];
  if (option === undefined) return;
  throw new InvalidOptionError(
    option,
    `${option} must be given to createMockService when service is given, but it came beside it`,
  );
}

function parseBaseUrl(baseUrl: unknown): URL {
  const url = typeof baseUrl === 'string' && URL.canParse(baseUrl) ? new URL(baseUrl) : undefined;
  if (
    (url?.protocol === 'http:' || url?.protocol === 'https:') &&
    `${url.username}${url.password}${url.search}${url.hash}` === ''
  ) {
    return url;
  }
  throw new InvalidOptionError(
    'baseUrl',
    `baseUrl must be an http or https URL without credentials, query and fragment, but ${describeValue(baseUrl)} came`,
  );
}

function prefixOf(base: URL): string {
  return base.pathname.replace(/\/+$/, '');
}

// Patterns of msw give a meaning to characters that a URL may hold; a regular expression does not,
// once they are escaped.
function below(base: URL): RegExp {
  return new RegExp(`^${escapePattern(`${base.origin}${prefixOf(base)}`)}/`);
}

function exactly(url: URL): RegExp {
  return new RegExp(`^${escapePattern(`${url.origin}${url.pathname}`)}$`);
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&');
}

/** The request as the service behind the prefix sees it. */
function withoutPrefix(request: Request, base: URL | undefined): Request {
  const url = new URL(request.url);
  const prefixLength =
    base === undefined ? url.pathname.length - PAYMENTS_PATH.length : prefixOf(base).length;
  url.pathname = url.pathname.slice(prefixLength);
  return new Request(url, {
    method: request.method,
    headers: request.headers,
    signal: request.signal,
    ...(request.body !== null && { body: request.body, duplex: 'half' }),
  });
}
