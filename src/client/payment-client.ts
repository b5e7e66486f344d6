import type { InspectOptions } from 'node:util';
import { ConnectionError, InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import { Deadline } from './deadline.js';
import { notSentError } from './failure.js';
import {
  type PaymentClientOptions,
  type RequestOptions,
  type ResolvedClientOptions,
  resolveClientOptions,
  resolveRequestOptions,
} from './options.js';
import { RequestFactory, type ServiceRequest } from './prepared-request.js';
import { type CreatePaymentResult, readPayment, type ServiceResponse } from './response.js';
import { applyResponseSchema } from './response-schema.js';
import { send } from './send.js';
import { loadTransport } from './transport/load.js';
import type { PreparedRequest, Transport } from './transport/transport.js';

/** The operations on payments. */
export interface Payments {
  /**
   * Creates a payment (interface section 4.1).
   *
   * A failure says by `requestOutcome` whether the payment may exist. What may have reached the
   * service is not sent again on its own.
   *
   * @throws {InvalidRequestError} when the input can't be right; nothing was sent
   * @throws {InvalidOptionError} when an option of the call can't be right; nothing was sent
   * @throws {InvalidCredentialsError} for a 401
   * @throws {ApiError} for another status than 2xx
   * @throws {ConnectionError} without a connection, or when it broke before an answer
   * @throws {RequestTimeoutError} when `timeoutMs` passed
   * @throws {RequestAbortedError} when `signal` was aborted
   * @throws {ResponseError} for an answer that can't be used
   *
   * @example
   * ```ts
   * import { PaymentClient } from 'merchant-payments';
   *
   * await using client = PaymentClient.fromEnv();
   * const { payment } = await client.payments.create({
   *   merchantPaymentReference: 'order-1001',
   *   amount: 2500,
   *   currency: 'EUR',
   * });
   * console.log(payment.referenceNumber);
   * ```
   */
  create<Body = unknown>(
    input: CreatePaymentInput,
    options?: RequestOptions<Body>,
  ): Promise<CreatePaymentResult<Body>>;
}

/**
 * A client of the Merchant Payment Service. Make one per merchant account and keep it: it holds
 * the connections. It shows its base URL when printed, and never its credentials.
 *
 * undici is loaded and connections are opened at the first call, not at construction.
 */
export class PaymentClient {
  /** The operations on payments. */
  readonly payments: Payments;
  readonly #options: ResolvedClientOptions;
  readonly #requests: RequestFactory;
  #transport: Transport | undefined;
  #loading: Promise<Transport> | undefined;
  #inFlight = 0;
  #closing: Promise<void> | undefined;
  #onIdle: (() => void) | undefined;

  /** @throws {InvalidOptionError} naming the option, what was expected and what came */
  constructor(options: PaymentClientOptions) {
    this.#options = resolveClientOptions(options);
    this.#requests = new RequestFactory(this.#options);
    this.payments = Object.freeze({
      create: <Body = unknown>(input: CreatePaymentInput, callOptions?: RequestOptions<Body>) =>
        this.#createPayment(input, callOptions),
    });
  }

  /**
   * A client from the environment: MERCHANT_PAYMENTS_BASE_URL, MERCHANT_PAYMENTS_API_KEY and
   * MERCHANT_PAYMENTS_API_SECRET. It is read at this call, not on import.
   *
   * @param overrides - options that win over the environment
   * @param env - the environment; `process.env` by default
   * @throws {InvalidOptionError} naming the option and its variable when one is missing
   */
  static fromEnv(
    overrides: Partial<PaymentClientOptions> = {},
    env: Record<string, string | undefined> = process.env,
  ): PaymentClient {
    return new PaymentClient({
      ...overrides,
      baseUrl: overrides.baseUrl ?? env['MERCHANT_PAYMENTS_BASE_URL'] ?? '',
      apiKey: overrides.apiKey ?? env['MERCHANT_PAYMENTS_API_KEY'] ?? '',
      apiSecret: overrides.apiSecret ?? env['MERCHANT_PAYMENTS_API_SECRET'] ?? '',
    });
  }

  /**
   * Sends a request for an operation that this SDK does not know yet, with the same
   * authentication, deadline, retries and errors as `payments.create`.
   *
   * @throws as {@link Payments.create} does
   */
  async request<Body = unknown>(
    request: ServiceRequest,
    options: RequestOptions<Body> = {},
  ): Promise<ServiceResponse<Body>> {
    if (typeof request !== 'object' || request === null) {
      throw new InvalidOptionError(
        'request',
        `request must be an object with method and path, but ${describeValue(request)} came`,
        { requestOutcome: 'not-sent' },
      );
    }
    if (options?.extraBody !== undefined) {
      throw new InvalidOptionError(
        'extraBody',
        'extraBody must be left out of request(), which has a body of its own; put the fields there',
        { requestOutcome: 'not-sent' },
      );
    }
    const { response } = await this.#call(this.#requests.any(request), options);
    return response as ServiceResponse<Body>;
  }

  /**
   * Refuses further calls, waits for those in flight (each ends by its own deadline) and closes
   * the connections. Can be called more than once.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** The same as {@link PaymentClient.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What JSON shows of a client: its base URL. */
  toJSON(): {
    /** As given, with its path. */
    baseUrl: string;
  } {
    return { baseUrl: this.#options.baseUrl.href };
  }

  /** @internal What `console.log` shows of a client. */
  [Symbol.for('nodejs.util.inspect.custom')](
    _depth: number,
    options: InspectOptions,
    inspect: (value: unknown, options: InspectOptions) => string,
  ): string {
    return `PaymentClient ${inspect(this.toJSON(), options)}`;
  }

  async #createPayment<Body>(
    input: CreatePaymentInput,
    options: RequestOptions<Body> = {},
  ): Promise<CreatePaymentResult<Body>> {
    const request = this.#requests.createPayment(input, options?.extraBody);
    const { received, response } = await this.#call(request, options);
    return { payment: readPayment(received), response: response as ServiceResponse<Body> };
  }

  async #call(
    request: PreparedRequest,
    callOptions: RequestOptions<never> | RequestOptions,
  ): Promise<{ received: unknown; response: ServiceResponse }> {
    const options = this.#options;
    const { signal, timeoutMs, maxRetries, responseSchema } = resolveRequestOptions(
      callOptions,
      options,
    );
    this.#assertOpen(request);
    const { credentials, logger, retryUnknownOutcome } = options;
    const deadline = new Deadline(timeoutMs, signal);
    this.#inFlight += 1;
    try {
      const transport = this.#transport ?? (await deadline.race(this.#load(request)));
      if (transport === undefined) {
        throw notSentError({ request, credentials, deadline });
      }
      // Spelled out: a spread here took two thirds of the time that this package adds to a call.
      const context = {
        request,
        credentials,
        deadline,
        transport,
        logger,
        maxRetries,
        retryUnknownOutcome,
      };
      const answer = await send(context);
      const response =
        responseSchema === undefined
          ? answer
          : await applyResponseSchema(answer, responseSchema, context);
      return { received: answer.body, response };
    } finally {
      deadline.end();
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onIdle?.();
    }
  }

  async #load({ method, path }: PreparedRequest): Promise<Transport> {
    this.#loading ??= loadTransport(this.#options);
    try {
      this.#transport = await this.#loading;
      return this.#transport;
    } catch (cause) {
      this.#loading = undefined;
      throw new ConnectionError(
        `${method} ${path} could not be sent: undici can't be loaded; install the package's dependencies, or give the client a fetch`,
        { requestOutcome: 'not-sent', cause },
      );
    }
  }

  #assertOpen({ method, path }: PreparedRequest): void {
    if (this.#closing === undefined) return;
    throw new ConnectionError(
      `${method} ${path} was not sent: the client was closed; make one client and close it at the end of the process`,
      { requestOutcome: 'not-sent' },
    );
  }

  async #close(): Promise<void> {
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.#transport?.destroy();
  }
}
