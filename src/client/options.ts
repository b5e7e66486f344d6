import type { Dispatcher } from 'undici';
import { InvalidOptionError } from '../errors.js';
import { type LogContext, type Logger, logContext, loggerRule } from '../protocol/logger.js';
import {
  boolean,
  func,
  invalidOption,
  type OptionRules,
  optional,
  resolveOptions,
  standardSchema,
  timerMs,
  wholeNumber,
  withDefault,
  withMethods,
} from '../protocol/options.js';
import type { StandardSchemaV1 } from '../protocol/standard-schema.js';
import { baseUrl, isLoopback } from '../protocol/url.js';
import {
  assertOwnSecret,
  Credentials,
  credential,
  orFromEnv,
  readCredentials,
  variables,
} from './credentials.js';
import { defaultHeaders, idempotency, requestHeaders } from './request-headers.js';

/** A dispatcher, whose types differ from one undici to the next. */
export interface DispatcherLike {
  /** Sends a request, and calls the handler with what comes back. */
  dispatch(options: never, handler: never): boolean;
}

/** Options of a {@link PaymentClient}. */
export interface PaymentClientOptions {
  /**
   * Address of the service, with a path prefix if it has one. Must be https:, or http: to this machine, which is
   * `localhost`, 127.0.0.0/8 or `[::1]`.
   */
  baseUrl: string | URL;
  /**
   * The merchant's API key: the user name of HTTP Basic (interface section 5.1). A function is called
   * for each call, so that you can rotate the key without a restart; cache a key that is slow to fetch. If the
   * function fails, the call fails with `SECRET_UNAVAILABLE` and nothing is sent. It must end within the call's
   * deadline.
   */
  apiKey: string | (() => string | PromiseLike<string>);
  /** The merchant's API secret: the password of HTTP Basic. May be a function, as `apiKey`. */
  apiSecret: string | (() => string | PromiseLike<string>);
  /**
   * Deadline of a whole call, in milliseconds: it includes connecting, retries, the waits between them and
   * reading the body. From 1 to 2147483647.
   * @default 30000
   */
  timeoutMs?: number | undefined;
  /**
   * How often a call may be sent again after its first request. 0 means exactly one request.
   * @default 2
   */
  maxRetries?: number | undefined;
  /**
   * Largest response body, in bytes. From 1.
   * @default 1048576
   */
  maxResponseBytes?: number | undefined;
  /**
   * A dispatcher of undici 7 or 8 to send through, such as a ProxyAgent or MockAgent. It stays yours:
   * `close()` does not close it. Can't be combined with `fetch`.
   */
  dispatcher?: DispatcherLike | undefined;
  /**
   * A function to send with instead of undici, for msw and for other runtimes. `globalThis.fetch` is read at each
   * call, so msw may begin to listen after the client was made. It can't tell when a request left this machine, so
   * more failures are reported as `unknown`.
   *
   * It must send a request once, return a new Response each time and leave its body unread. One that
   * retries by itself can create a payment twice. It may change headers and the route to the service. It
   * must catch the failures of any further request it makes, even to the service: otherwise the client
   * can't know whether the payment was sent.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * Request headers to send with every call, for example an API version. They may not set
   * authorization, content-type, content-length, host, accept-encoding or a header of the connection.
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * How the service recognises a creation that it gets twice, if it promises to make one payment of the two; the
   * interface does not promise it. A creation whose outcome is unknown is then sent again, by retries and by a store's
   * `recover`; without the promise, that would create a second payment.
   *
   * - `{ header: 'idempotency-key' }`: by the key in this header. Every attempt at one payment carries the same key, made
   *   of its fields: retries, `create` again, and `recover` of any process. It replaces one of `headers`.
   * - `'merchantPaymentReference'`: by the payment's reference.
   * @default none: what may exist at the service is not sent again
   */
  idempotency?:
    | {
        /** The header's name. */
        readonly header: string;
      }
    | 'merchantPaymentReference'
    | undefined;
  /**
   * Receives a line for every request, without bodies or header values: pino or console, for example. At `warn` and
   * `error` it has the `merchantPaymentReference` of a creation.
   */
  logger?: Logger | undefined;
  /**
   * Allows an http: base URL to another machine. The API secret then crosses the network in clear text.
   * @default false
   */
  dangerouslyAllowHttp?: boolean | undefined;
}

/** Options of one call. */
export interface RequestOptions<Body = unknown, Fields = unknown> {
  /** Cancels the call when aborted. */
  signal?: AbortSignal | undefined;
  /** Instead of the client's `timeoutMs`, for this call. */
  timeoutMs?: number | undefined;
  /** Instead of the client's `maxRetries`, for this call. */
  maxRetries?: number | undefined;
  /** More request headers; one replaces the client's of its name. Nothing stores them: `recover` sends without. */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * For `payments.create`: fields that the interface does not list, sent in addition to its three. They may
   * not replace one of the three. What JSON would leave out or change in silence, such as a Map, is refused by its
   * path; a field that is `undefined` is left out, and a Date is sent as its ISO text.
   */
  extraBody?: Record<string, unknown> | undefined;
  /**
   * A Standard Schema that checks the body of a 2xx. Its output becomes `response.body`, and `payment` has the
   * fields of its input type. If it finds issues, the call fails with `requestOutcome: 'accepted'`, since the
   * service did accept the request.
   */
  responseSchema?: StandardSchemaV1<Fields, Body> | undefined;
  /**
   * Your own fields for the log lines, channel messages and spans of this call, such as a tenant or a job
   * number. They are not sent and never become metric labels. At most 16; a name has at most 64 letters,
   * digits, hyphens, underscores and full stops, a text at most 256 characters.
   */
  logContext?: LogContext | undefined;
}

const maxRetries = wholeNumber({ unit: 'retries' });

const clientRules = {
  baseUrl: (value: unknown, option: string) => {
    if (value !== undefined && value !== '') return baseUrl(value, option);
    throw invalidOption(option, "the service's address", value, orFromEnv('baseUrl'));
  },
  apiKey: credential,
  apiSecret: credential,
  timeoutMs: withDefault(30_000, timerMs()),
  maxRetries: withDefault(2, maxRetries),
  maxResponseBytes: withDefault(1_048_576, wholeNumber({ min: 1, unit: 'bytes' })),
  dispatcher: optional(withMethods<Dispatcher>('an undici Dispatcher', 'dispatch')),
  fetch: optional(func<typeof globalThis.fetch>('like globalThis.fetch')),
  headers: withDefault({}, requestHeaders),
  idempotency: optional(idempotency),
  logger: optional(loggerRule),
  dangerouslyAllowHttp: withDefault(false, boolean),
} satisfies OptionRules<PaymentClientOptions>;

/** @throws {InvalidOptionError} naming the option, what was expected and what was received */
export function resolveClientOptions(options: PaymentClientOptions) {
  assertNoBrowser();
  const { apiKey, apiSecret, dangerouslyAllowHttp, ...given } = resolveOptions(
    options,
    clientRules,
    { holds: 'baseUrl, apiKey and apiSecret' },
  );
  const { dispatcher, fetch } = given;
  const { hostname, protocol, port } = new URL(given.baseUrl.href);
  const isOnThisMachine = isLoopback(hostname);
  if (protocol === 'http:' && !dangerouslyAllowHttp && !isOnThisMachine) {
    throw new InvalidOptionError(
      'baseUrl',
      'baseUrl must be an https: URL, since http: would send the API secret in clear text; use https:, localhost, or dangerouslyAllowHttp in a test network',
    );
  }
  if (dispatcher !== undefined && fetch !== undefined) {
    throw new InvalidOptionError(
      'fetch',
      'fetch must not be combined with dispatcher; pass only one of them',
    );
  }
  if (!isOnThisMachine) assertOwnSecret(apiSecret);
  return Object.freeze({
    ...given,
    // Read at each call: msw replaces it when it begins to listen.
    fetch: fetch && (fetch === globalThis.fetch ? globalFetch : fetch),
    headers: { ...defaultHeaders, ...given.headers },
    /** A function where they are read at each call. */
    credentials:
      typeof apiKey === 'string' && typeof apiSecret === 'string'
        ? new Credentials(apiKey, apiSecret)
        : () => readCredentials(apiKey, apiSecret, isOnThisMachine),
    /** The base URL's host and port, for traces and log lines. */
    server: {
      serverAddress: hostname.replace(/^\[|\]$/g, ''),
      serverPort: Number(port || (protocol === 'http:' ? 80 : 443)),
    },
  });
}

export type ResolvedClientOptions = ReturnType<typeof resolveClientOptions>;

const globalFetch: typeof globalThis.fetch = (...request) => globalThis.fetch(...request);

type Environment = Readonly<Record<string, string | undefined>>;

/**
 * Options completed from the environment. A missing variable is not an error yet: an application may be built
 * where its secrets are not available.
 */
export class EnvironmentOptions {
  readonly #checked: ResolvedClientOptions;
  readonly #given: Partial<PaymentClientOptions>;
  readonly #env: Environment;

  /** @throws {InvalidOptionError} for an option or variable that is present and invalid */
  constructor(overrides: Partial<PaymentClientOptions>, env: Environment) {
    this.#env = env;
    // A variable that is present now stays in force if the environment changes.
    this.#given = complete(overrides, env);
    // Valid, so that the others are checked while one is missing.
    const standIns = { baseUrl: 'https://localhost', apiKey: 'unset', apiSecret: 'unset' };
    this.#checked = resolveClientOptions({ ...standIns, ...this.#given });
  }

  /** Empty while its variable is missing. */
  get baseUrl(): string {
    return this.#given.baseUrl === undefined ? '' : this.#checked.baseUrl.href;
  }

  /** @throws {InvalidOptionError} naming all that is missing, so that one look at the environment is enough */
  resolve(): ResolvedClientOptions {
    if (named.every((name) => this.#given[name] !== undefined)) return this.#checked;
    const given = complete(this.#given, this.#env);
    const missing = named.filter((name) => given[name] === undefined);
    const [first] = missing;
    if (first === undefined) return resolveClientOptions(given as PaymentClientOptions);
    const toSet = missing.map((name) => variables[name]).join(', ');
    const all = missing.join(', ');
    throw new InvalidOptionError(
      first,
      `${all} ${missing.length === 1 ? 'is' : 'are'} missing; set ${toSet}, or pass ${all} to PaymentClient.fromEnv()`,
    );
  }
}

const named = Object.keys(variables) as readonly (keyof typeof variables)[];

/** A copy with the variables in place of options that are missing, which have no key if they still are. */
function complete(given: Partial<PaymentClientOptions>, env: Environment) {
  const completed: Record<string, unknown> = { ...given };
  for (const name of named) {
    if (given[name] === undefined) completed[name] = env[variables[name]] || undefined;
    if (completed[name] === undefined) delete completed[name];
  }
  return completed as Partial<PaymentClientOptions>;
}

const callRules = {
  signal: optional(
    withMethods<AbortSignal>('an AbortSignal', 'addEventListener', 'removeEventListener'),
  ),
  timeoutMs: optional(timerMs()),
  maxRetries: optional(maxRetries),
  headers: optional(requestHeaders),
  // Checked with the payment.
  extraBody: (value: unknown) => value,
  responseSchema: optional(standardSchema),
  logContext: optional(logContext),
} satisfies OptionRules<RequestOptions>;

/** @throws {InvalidOptionError} naming the option, what was expected and what was received */
export const resolveRequestOptions = (options: RequestOptions) =>
  resolveOptions(options, callRules, { holds: 'the options of the call' });

export type ResolvedRequestOptions = ReturnType<typeof resolveRequestOptions>;

/** An InvalidOptionError of a step before sending says that nothing was sent. */
export function asNotSent(error: unknown): unknown {
  if (!(error instanceof InvalidOptionError)) return error;
  return new InvalidOptionError(error.option, error.message, { requestOutcome: 'not-sent' });
}

/**
 * Refuses to make a client in a browser's page or worker, where every visitor could read the API secret and
 * create payments with it. jsdom in Node and Electron's main process have no visitors and are allowed.
 *
 * @throws {InvalidOptionError} in a browser
 */
function assertNoBrowser(): void {
  // The stand-in for process that bundlers provide has no version of Node.
  if (globalThis.process?.versions?.node !== undefined) return;
  const { document, navigator } = globalThis as { document?: unknown; navigator?: object };
  if (document === undefined && navigator?.constructor.name !== 'WorkerNavigator') return;
  throw new InvalidOptionError(
    'apiSecret',
    'apiSecret must not be used in a browser: everyone could read it there and create payments; create the client on your server, and call that',
  );
}
