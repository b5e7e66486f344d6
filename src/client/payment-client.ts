import type { InspectOptions } from 'node:util';
import {
  ConnectionError,
  InvalidOptionError,
  MerchantPaymentsError,
  type ServiceResponse,
} from '../errors.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import { PREPARE_CREATION, type PreparedCreation } from '../protocol/prepared-creation.js';
import { Credentials } from './credentials.js';
import { Deadline } from './deadline.js';
import { notSentError } from './failure.js';
import { type CallTrace, observeCall, traceOf } from './observation.js';
import {
  asNotSent,
  EnvironmentOptions,
  type PaymentClientOptions,
  type RequestOptions,
  type ResolvedClientOptions,
  type ResolvedRequestOptions,
  resolveClientOptions,
  resolveRequestOptions,
} from './options.js';
import {
  type Call,
  prepareCreation,
  prepareRequest,
  type ServiceRequest,
  toRequest,
} from './prepared-request.js';
import {
  applyResponseSchema,
  type CreatePaymentResult,
  parseBody,
  readPayment,
} from './response.js';
import { send } from './send.js';
import { describeLoadFailure, loadTransport } from './transport/load.js';
import type { Transport } from './transport/transport.js';

/** The operations on payments. */
export interface Payments {
  /**
   * Creates a payment (interface section 4.1).
   *
   * An error's `requestOutcome` says whether the payment may exist. A request that may have created a payment
   * is not retried unless `idempotency` is set.
   *
   * @throws {InvalidRequestError} when the input is invalid; nothing was sent
   * @throws {InvalidOptionError} when an option of the call is invalid; nothing was sent
   * @throws {SecretUnavailableError} when a function that returns a credential fails; nothing was sent
   * @throws {InvalidCredentialsError} for a 401
   * @throws {ApiError} for any other status outside 2xx
   * @throws {ConnectionError} when connecting fails, or the connection breaks before an answer
   * @throws {RequestTimeoutError} after `timeoutMs`
   * @throws {RequestAbortedError} when `signal` is aborted
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
  create<Body = unknown, Fields = unknown>(
    input: CreatePaymentInput,
    options?: RequestOptions<Body, Fields>,
  ): Promise<CreatePaymentResult<Body, Fields>>;
  /**
   * The same, and never called: with overloads, TypeScript lets a test's double return one type of body, and with a
   * parameter more, it reports a mistake in a call once.
   */
  create<Body = unknown, Fields = unknown>(
    input: CreatePaymentInput,
    options: RequestOptions<Body, Fields> | undefined,
    never: never,
  ): Promise<CreatePaymentResult<Body, Fields>>;
}

type Prepare<Input> = (
  input: Input,
  options: ResolvedRequestOptions | undefined,
  client: ResolvedClientOptions,
) => Call;

/**
 * A client of the Merchant Payment Service. Create one per merchant account and keep it: it holds the
 * connections. When printed it shows its base URL, never its credentials.
 *
 * It loads undici and opens connections at the first call, not at construction.
 *
 * It is for servers. In a browser, where everyone could read the API secret, the constructor throws.
 */
export class PaymentClient {
  /** The operations on payments. A test may replace them. */
  readonly payments: Payments;
  readonly #environment: EnvironmentOptions | undefined;
  #options: ResolvedClientOptions | undefined;
  #transport: Transport | undefined;
  #loading: Promise<Transport> | undefined;
  #inFlight = 0;
  #closing: Promise<void> | undefined;
  readonly #shutdown = new AbortController();
  #onIdle: (() => void) | undefined;

  /** @throws {InvalidOptionError} naming the option, what was expected and what was received */
  constructor(options: PaymentClientOptions) {
    if (options instanceof EnvironmentOptions) this.#environment = options;
    else this.#options = resolveClientOptions(options);
    this.payments = {
      create: this.#create.bind(this),
    };
  }

  /**
   * A client from the environment: MERCHANT_PAYMENTS_BASE_URL, MERCHANT_PAYMENTS_API_KEY and
   * MERCHANT_PAYMENTS_API_SECRET. They are read by this call, not on import. A variable that is missing or
   * empty is read again at each call of the client, which fails while it is missing (`INVALID_OPTION`, nothing
   * is sent). So a module can create the client where an application is built without its secrets, for example
   * by `next build`. `setup()` and `startRecovery()` of a store fail while one is missing, so an application without
   * them does not start.
   *
   * @param overrides - options that take precedence over the environment
   * @param env - the environment; `process.env` by default
   * @throws {InvalidOptionError} when an option or a variable is present and invalid
   */
  static fromEnv(
    overrides: Partial<PaymentClientOptions> = {},
    env: Record<string, string | undefined> = globalThis.process?.env ?? {},
  ): PaymentClient {
    return createFromEnvironment(new EnvironmentOptions(overrides, env));
  }

  /**
   * Sends a request for an operation that this SDK does not know yet, with the same
   * authentication, deadline, retries and errors as `payments.create`.
   *
   * @throws as {@link Payments.create} does
   */
  async request<Body = unknown>(
    request: ServiceRequest,
    options?: RequestOptions<Body>,
  ): Promise<ServiceResponse<Body>> {
    return (await this.#call(prepareRequest, request, options)) as ServiceResponse<Body>;
  }

  /**
   * Refuses new calls, waits for requests in flight (each ends by its call's deadline) and closes the connections.
   * A call that waits for a retry ends at once, with the error of its last request. May be called more than once.
   */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  /** The same as {@link PaymentClient.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  /** What JSON shows of the client: its base URL. */
  toJSON(): {
    /** As given, with its path; empty while its variable is missing. */
    baseUrl: string;
  } {
    const environment = this.#environment as EnvironmentOptions;
    return { baseUrl: this.#options?.baseUrl.href ?? environment.baseUrl };
  }

  /** @internal What `console.log` shows of a client. */
  [Symbol.for('nodejs.util.inspect.custom')](
    _depth: number,
    options: InspectOptions,
    inspect: (value: unknown, options: InspectOptions) => string,
  ): string {
    return `PaymentClient ${inspect(this.toJSON(), options)}`;
  }

  /** @internal What `payments.create` would send. Throws as it does for what is invalid. */
  [PREPARE_CREATION]<Body, Fields>(
    input: CreatePaymentInput,
    options: RequestOptions<Body, Fields> | undefined,
  ): PreparedCreation<CreatePaymentResult<Body, Fields>> {
    const call = this.#prepare(prepareCreation, input, options);
    const body = call.body as string;
    return {
      body,
      timeoutMs: call.options?.timeoutMs ?? call.client.timeoutMs,
      mayRepeat: call.mayRepeat,
      // From a copy, since the caller's object may change. By the public method, which a test may have replaced.
      send: (timeoutMs) => {
        const { merchantPaymentReference, amount, currency, ...extraBody } = JSON.parse(body);
        const fields = { merchantPaymentReference, amount, currency };
        const sent = this.payments.create(fields, { ...call.options, extraBody, timeoutMs });
        return sent as Promise<CreatePaymentResult<Body, Fields>>;
      },
    };
  }

  async #create<Body, Fields>(
    input: CreatePaymentInput,
    options?: RequestOptions<Body, Fields>,
  ): Promise<CreatePaymentResult<Body, Fields>> {
    const response = (await this.#call(prepareCreation, input, options)) as ServiceResponse<Body>;
    const { body, text, headers } = response;
    // A schema has made another body of it.
    const answered = options?.responseSchema === undefined ? body : parseBody(text, headers);
    const payment = readPayment(answered) as CreatePaymentResult<Body, Fields>['payment'];
    return { payment, response };
  }

  async #call<Input>(
    prepare: Prepare<Input>,
    input: Input,
    options: RequestOptions | undefined,
  ): Promise<ServiceResponse> {
    try {
      return await this.#perform(this.#prepare(prepare, input, options));
    } catch (error) {
      throw showCaller(error);
    }
  }

  /** @throws {InvalidOptionError} for an option of the call, and while a variable of the environment is missing */
  #prepare<Input>(
    prepare: Prepare<Input>,
    input: Input,
    options: RequestOptions | undefined,
  ): Call {
    try {
      this.#options ??= (this.#environment as EnvironmentOptions).resolve();
      const given = options === undefined ? undefined : resolveRequestOptions(options);
      return prepare(input, given, this.#options);
    } catch (error) {
      throw showCaller(asNotSent(error));
    }
  }

  #perform(call: Call): Promise<ServiceResponse> {
    if (this.#closing !== undefined) {
      const message = `${call.method} ${call.path} was not sent: the client was closed; create one client and close it at the end of the process`;
      throw new ConnectionError(message, { requestOutcome: 'not-sent' });
    }
    const trace = traceOf(call);
    return trace === undefined
      ? this.#send(call, undefined)
      : observeCall(trace, () => this.#send(call, trace));
  }

  async #send(call: Call, trace: CallTrace | undefined): Promise<ServiceResponse> {
    const { client, options } = call;
    const deadline = new Deadline(options?.timeoutMs ?? client.timeoutMs, options?.signal);
    this.#inFlight += 1;
    try {
      const transport = this.#transport ?? (await this.#load(call, deadline));
      const credentials =
        client.credentials instanceof Credentials
          ? client.credentials
          : await readInTime(client.credentials, call, deadline);
      const request = toRequest(call, credentials);
      const closing = this.#shutdown.signal;
      const context = { call, trace, request, credentials, deadline, transport, closing };
      const answer = await send(context);
      const schema = options?.responseSchema;
      return schema === undefined ? answer : await applyResponseSchema(answer, schema, context);
    } finally {
      deadline.end();
      this.#inFlight -= 1;
      if (this.#inFlight === 0) this.#onIdle?.();
    }
  }

  /** Loads the transport at the first call. */
  async #load(call: Call, deadline: Deadline): Promise<Transport> {
    this.#loading ??= loadTransport(call.client);
    let transport: Transport | undefined;
    try {
      transport = await deadline.race(this.#loading);
    } catch (cause) {
      this.#loading = undefined;
      if (cause instanceof InvalidOptionError) throw asNotSent(cause);
      const message = `${call.method} ${call.path} could not be sent: ${describeLoadFailure(cause)}`;
      throw new ConnectionError(message, { requestOutcome: 'not-sent', cause });
    }
    if (transport === undefined) throw notSentError({ request: call, deadline });
    this.#transport = transport;
    return transport;
  }

  async #close(): Promise<void> {
    this.#shutdown.abort();
    if (this.#inFlight > 0) {
      await new Promise<void>((resolve) => {
        this.#onIdle = resolve;
      });
    }
    await this.#transport?.destroy();
  }
}

/** Reads credentials that functions give. */
async function readInTime(
  read: () => Promise<Credentials>,
  call: Call,
  deadline: Deadline,
): Promise<Credentials> {
  let credentials: Credentials | undefined;
  try {
    credentials = await deadline.race(read());
  } catch (error) {
    throw asNotSent(error);
  }
  if (credentials !== undefined) return credentials;
  throw notSentError({ request: call, deadline }, ': apiKey and apiSecret were not read in time');
}

/** Where an error arose, the package's functions fill the ten frames that V8 keeps. Here the caller is near. */
function showCaller(error: unknown): unknown {
  // A bug of the package keeps its own stack.
  if (error instanceof MerchantPaymentsError) Error.captureStackTrace?.(error, showCaller);
  return error;
}

// A class that names itself is `_PaymentClient` in the stack traces of the published code.
function createFromEnvironment(environment: EnvironmentOptions): PaymentClient {
  return new PaymentClient(environment as never);
}
