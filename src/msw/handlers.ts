import { createMockService } from 'merchant-payments/mock-server';
import { type HttpHandler, HttpResponse, http } from 'msw';
import { InvalidOptionError } from '../errors.js';
import type { ConnectionLoss } from '../mock-server/api/http-messages.js';
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

  const { path } = operations['payments.create'];
  return [
    http.all(base === undefined ? `*${path}` : below(base), async ({ request }) => {
      const url = new URL(request.url);
      url.pathname = base === undefined ? path : url.pathname.slice(base.pathPrefix.length);
      try {
        return await service.fetch(moveTo(url, request));
      } catch (error) {
        if (!isConnectionLoss(error)) throw error;
        return HttpResponse.error();
      }
    }),
  ];
}

/** Recognised by its field, not its class: the service may come from another copy of the package. */
const isConnectionLoss = (error: unknown): error is ConnectionLoss =>
  error instanceof TypeError && 'how' in error;

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

function moveTo(url: URL, { method, headers, signal, body }: Request): Request {
  return new Request(url, {
    ...{ method, headers, signal },
    ...(body !== null && { body, duplex: 'half' }),
  });
}
