import { createMockService } from 'merchant-payments/mock-server';
import { type HttpHandler, HttpResponse, http } from 'msw';
import { InvalidOptionError } from '../errors.js';
import type { MockService } from '../mock-server/mock-service.js';
import { type MockServiceOptions, serviceRules } from '../mock-server/options.js';
import { operations } from '../protocol/operations.js';
import {
  type OptionRules,
  optional,
  readOptions,
  resolveOptions,
  withMethods,
} from '../protocol/options.js';
import { type BaseUrl, baseUrl } from '../protocol/url.js';

/** Options of {@link paymentServiceHandlers}: those of a new mock service, or `service` for your own. */
export interface PaymentServiceHandlersOptions extends MockServiceOptions {
  /**
   * The service's base address, http or https, with its path prefix if it has one. All paths below it
   * are answered, unknown ones with 404.
   * @default none: `/api/payments` is answered at every address, and no other path
   */
  baseUrl?: string | undefined;
  /**
   * The service that answers, so that you can inspect payments, set statuses and add faults. Can't be
   * combined with options of a new service.
   * @default a new one with the given options
   */
  service?: MockService | undefined;
}

const rules = {
  baseUrl: optional(baseUrl),
  service: optional(withMethods<MockService>('a service made by createMockService', 'fetch')),
} satisfies OptionRules<Omit<PaymentServiceHandlersOptions, keyof MockServiceOptions>>;

const OPTIONS = Object.keys({ ...serviceRules, ...rules }) as readonly (
  | keyof typeof serviceRules
  | keyof typeof rules
)[];

/**
 * The mock service as msw handlers (interface section 4.1), for msw 2 and 3.
 *
 * msw 2 sees the global `fetch` and `node:http`, but not undici. Give the client `fetch: globalThis.fetch`, or its requests go to the real address. The service's callbacks pass msw by and reach your endpoint. msw's
 * `resetHandlers()` keeps payments and faults: call `service.reset()` too.
 *
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { createMockService } from 'merchant-payments/mock-server';
 * import { paymentServiceHandlers } from 'merchant-payments/msw';
 * import { setupServer } from 'msw/node';
 *
 * const service = createMockService();
 * const network = setupServer(...paymentServiceHandlers({ baseUrl: 'https://pay.example', service }));
 * network.listen();
 * ```
 */
export function paymentServiceHandlers(options: PaymentServiceHandlersOptions = {}): HttpHandler[] {
  const { baseUrl: givenUrl, service: givenService, ...others } = readOptions(options, OPTIONS);
  const { baseUrl: base, service: given } = resolveOptions(
    { baseUrl: givenUrl, service: givenService },
    rules,
  );
  const serviceOptions = others as MockServiceOptions;
  if (given !== undefined) refuseServiceOptions(serviceOptions);
  const service = given ?? createMockService(serviceOptions);

  return listPlaces(base).map(({ pattern, toPath }) =>
    http.all(pattern, async ({ request }) => {
      try {
        return await service.fetch(moveTo(request, toPath(new URL(request.url).pathname)));
      } catch (error) {
        const { code } = error as { readonly code?: unknown };
        if (code !== 'CONNECTION_LOST') throw error;
        return HttpResponse.error();
      }
    }),
  );
}

function refuseServiceOptions(options: object): void {
  const [option] = Object.entries(options).find(([, value]) => value !== undefined) ?? [];
  if (option === undefined) return;
  throw new InvalidOptionError(
    option,
    `${option} must be given to createMockService, because service is given`,
  );
}

// In msw's patterns, some characters that a URL may contain have a meaning. In a regular expression they
// can be escaped.
function below({ href }: BaseUrl): RegExp {
  return new RegExp(`^${href.replace(/[\\^$.*+?()[\]{}|/-]/g, '\\$&')}/`);
}

interface Place {
  readonly pattern: RegExp | string;
  /** Returns the service's own path, without the prefix. */
  readonly toPath: (pathname: string) => string;
}

/** Everything below the base address; without one, the paths of the operations at any address. */
function listPlaces(base: BaseUrl | undefined): readonly Place[] {
  if (base !== undefined) {
    return [{ pattern: below(base), toPath: (path) => path.slice(base.pathPrefix.length) }];
  }
  const paths = new Set(Object.values(operations).map(({ path }) => path));
  return [...paths].map((path) => {
    const length = path.split('/').length - 1;
    const toPath = (pathname: string) => `/${pathname.split('/').slice(-length).join('/')}`;
    return { pattern: `*${path}`, toPath };
  });
}

function moveTo(request: Request, pathname: string): Request {
  const url = new URL(request.url);
  url.pathname = pathname;
  return new Request(url, {
    method: request.method,
    headers: request.headers,
    signal: request.signal,
    ...(request.body !== null && { body: request.body, duplex: 'half' }),
  });
}
