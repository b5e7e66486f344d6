import type { Dispatcher } from 'undici';
import { InvalidOptionError } from '../errors.js';
import {
  assertFunction,
  assertKnownOptions,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
  type OptionNames,
} from '../protocol/assert-option.js';
import { describeValue } from '../protocol/describe-value.js';
import { assertStandardSchema, type StandardSchemaV1 } from '../protocol/standard-schema.js';
import { type BaseUrl, parseBaseUrl } from './base-url.js';
import { Credentials } from './credentials.js';
import type { Logger } from './observation.js';

/** Options of a {@link PaymentClient}. */
export interface PaymentClientOptions {
  /**
   * Address of the service; may carry a path prefix. Must be https:, or http: to this machine.
   */
  baseUrl: string | URL;
  /** The merchant's API key: the user name of HTTP Basic (interface section 5.1). */
  apiKey: string;
  /** The merchant's API secret: the password of HTTP Basic. */
  apiSecret: string;
  /**
   * Deadline of a whole call, in milliseconds: connecting, retries, waiting between them and
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
   * Also send again what may have been processed. Only when the service tells duplicates apart:
   * the interface promises no such thing, so this can create a payment twice.
   * @default false
   */
  retryUnknownOutcome?: boolean | undefined;
  /**
   * Largest body of an answer, in bytes. From 1.
   * @default 1048576
   */
  maxResponseBytes?: number | undefined;
  /**
   * How many requests may wait while 256 are in flight. One more fails at once, with a
   * `ConnectionError` that is safe to retry. From 0, which lets none wait. Not together with
   * `dispatcher` or `fetch`, which have their own limits.
   * @default without a limit: what waits is bounded by its deadline
   */
  maxQueuedRequests?: number | undefined;
  /**
   * A dispatcher of undici 7 to send through, such as a ProxyAgent or MockAgent. It stays yours:
   * `close()` does not close it. Not together with `fetch`.
   */
  dispatcher?: Dispatcher | undefined;
  /**
   * Send by this function instead of undici: for msw, and for other runtimes. It can't tell
   * when a request left this machine, so more failures are reported as `unknown`.
   *
   * It must send a request once, return a new Response each time and leave its body unread. One that
   * retries by itself can create a payment twice. It may change headers and the way to the service;
   * what else it calls, the service itself included, it must not let fail the call: the client can't
   * know whether the payment was sent then.
   */
  fetch?: typeof globalThis.fetch | undefined;
  /** Gets a line for every request: pino, or console. No bodies, no header values. */
  logger?: Logger | undefined;
  /**
   * Allows an http: base URL to another machine. The API secret then crosses the network in clear
   * text.
   * @default false
   */
  dangerouslyAllowHttp?: boolean | undefined;
}

/** Options of one call. */
export interface RequestOptions<Body = unknown> {
  /** Gives the call up when aborted. */
  signal?: AbortSignal | undefined;
  /** Instead of the client's `timeoutMs`, for this call. */
  timeoutMs?: number | undefined;
  /** Instead of the client's `maxRetries`, for this call. */
  maxRetries?: number | undefined;
  /**
   * For `payments.create`: fields that the interface does not show, sent beside the three. They
   * may not replace one of the three.
   */
  extraBody?: Record<string, unknown> | undefined;
  /**
   * Checks the body of a 2xx, as any Standard Schema; its output becomes `response.body`. When it
   * finds issues the call fails with `requestOutcome: 'accepted'`, since the service did accept it.
   */
  responseSchema?: StandardSchemaV1<unknown, Body> | undefined;
}

export interface ResolvedClientOptions {
  readonly baseUrl: BaseUrl;
  readonly credentials: Credentials;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly retryUnknownOutcome: boolean;
  readonly maxResponseBytes: number;
  readonly maxQueuedRequests: number;
  readonly dispatcher: Dispatcher | undefined;
  readonly fetch: typeof globalThis.fetch | undefined;
  readonly logger: Logger | undefined;
}

const CLIENT_OPTIONS: OptionNames<PaymentClientOptions> = {
  baseUrl: true,
  apiKey: true,
  apiSecret: true,
  timeoutMs: true,
  maxRetries: true,
  retryUnknownOutcome: true,
  maxResponseBytes: true,
  maxQueuedRequests: true,
  dispatcher: true,
  fetch: true,
  logger: true,
  dangerouslyAllowHttp: true,
};

/** @throws {InvalidOptionError} naming the option, what was expected and what came */
export function resolveClientOptions(options: PaymentClientOptions): ResolvedClientOptions {
  assertOptionsObject('options', options, 'baseUrl, apiKey and apiSecret');
  assertKnownOptions(options, CLIENT_OPTIONS);
  const {
    timeoutMs = 30_000,
    maxRetries = 2,
    retryUnknownOutcome = false,
    maxResponseBytes = 1_048_576,
    dangerouslyAllowHttp = false,
    maxQueuedRequests,
    dispatcher,
    fetch,
    logger,
  } = options;
  assertBoolean('dangerouslyAllowHttp', dangerouslyAllowHttp);
  const baseUrl = parseBaseUrl(options.baseUrl, dangerouslyAllowHttp);
  const credentials = new Credentials(options.apiKey, options.apiSecret);
  assertTimeout(timeoutMs);
  assertMaxRetries(maxRetries);
  assertBoolean('retryUnknownOutcome', retryUnknownOutcome);
  assertWholeNumber('maxResponseBytes', maxResponseBytes, { min: 1, unit: 'bytes' });
  if (dispatcher !== undefined)
    assertMethods('dispatcher', dispatcher, ['dispatch'], 'an undici Dispatcher');
  if (fetch !== undefined) assertFunction('fetch', fetch, 'like globalThis.fetch');
  if (dispatcher !== undefined && fetch !== undefined) {
    throw new InvalidOptionError(
      'fetch',
      'fetch must not be given together with dispatcher, but both came; choose one way to send',
    );
  }
  if (maxQueuedRequests !== undefined) {
    assertWholeNumber('maxQueuedRequests', maxQueuedRequests, { min: 0, unit: 'requests' });
    if (dispatcher !== undefined || fetch !== undefined) {
      throw new InvalidOptionError(
        'maxQueuedRequests',
        "maxQueuedRequests must be left out with dispatcher or fetch: it bounds the client's own queue",
      );
    }
  }
  if (logger !== undefined) {
    assertMethods('logger', logger, ['debug', 'info', 'warn', 'error'], 'a logger like console');
  }
  return Object.freeze({
    baseUrl,
    credentials,
    timeoutMs,
    maxRetries,
    retryUnknownOutcome,
    maxResponseBytes,
    maxQueuedRequests: maxQueuedRequests ?? Number.POSITIVE_INFINITY,
    dispatcher,
    fetch,
    logger,
  });
}

export interface ResolvedRequestOptions {
  readonly signal: AbortSignal | undefined;
  readonly timeoutMs: number;
  readonly maxRetries: number;
  readonly responseSchema: StandardSchemaV1 | undefined;
}

const REQUEST_OPTIONS: OptionNames<RequestOptions> = {
  signal: true,
  timeoutMs: true,
  maxRetries: true,
  extraBody: true,
  responseSchema: true,
};

/** @throws {InvalidOptionError} naming the option, with `requestOutcome: 'not-sent'` */
export function resolveRequestOptions(
  options: RequestOptions,
  client: ResolvedClientOptions,
): ResolvedRequestOptions {
  try {
    return checkRequestOptions(options, client);
  } catch (error) {
    if (!(error instanceof InvalidOptionError)) throw error;
    throw new InvalidOptionError(error.option, error.message, { requestOutcome: 'not-sent' });
  }
}

function checkRequestOptions(
  options: RequestOptions,
  client: ResolvedClientOptions,
): ResolvedRequestOptions {
  assertOptionsObject('options', options, 'the options of the call');
  assertKnownOptions(options, REQUEST_OPTIONS);
  const {
    signal,
    timeoutMs = client.timeoutMs,
    maxRetries = client.maxRetries,
    responseSchema,
  } = options;
  assertTimeout(timeoutMs);
  assertMaxRetries(maxRetries);
  if (signal !== undefined) {
    assertMethods('signal', signal, ['addEventListener', 'removeEventListener'], 'an AbortSignal');
  }
  if (responseSchema !== undefined) assertStandardSchema('responseSchema', responseSchema);
  return { signal, timeoutMs, maxRetries, responseSchema };
}

function assertTimeout(value: unknown): void {
  assertWholeNumber('timeoutMs', value, { min: 1, max: LONGEST_TIMER_MS, unit: 'milliseconds' });
}

function assertMaxRetries(value: unknown): void {
  assertWholeNumber('maxRetries', value, { min: 0, unit: 'retries' });
}

function assertBoolean(option: string, value: unknown): asserts value is boolean {
  if (typeof value === 'boolean') return;
  throw new InvalidOptionError(
    option,
    `${option} must be true or false, but ${describeValue(value)} came`,
  );
}

function assertMethods(
  option: string,
  value: object,
  methods: readonly string[],
  what: string,
): void {
  const candidate = value as Record<string, unknown> | null;
  if (methods.every((method) => typeof candidate?.[method] === 'function')) return;
  throw new InvalidOptionError(
    option,
    `${option} must be ${what} (with ${methods.join(', ')}), but ${describeValue(value)} came`,
  );
}
