import { inspect } from 'node:util';
import { MockServerError } from '../errors.js';
import {
  boolean,
  func,
  type OptionRules,
  optional,
  resolveOptions,
  text,
  timerMs,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import { createGateway, type Gateway } from './api/gateway.js';
import {
  fromRequest,
  type PlainAnswer,
  type PlainRequest,
  toResponse,
} from './api/http-messages.js';
import {
  describeRequest,
  type RecordedRequest,
  type RequestMatch,
  sizeOfRequest,
  toRequestFacts,
} from './api/recorded-request.js';
import { WaitingRequests } from './api/request-faults.js';
import { AutomaticStatuses } from './automatic-statuses.js';
import { CallbackSender } from './callbacks/deliver.js';
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryMatch,
  describeAttempt,
  type ResendOptions,
  sizeOfAttempt,
  toAttemptFacts,
  type WaitOptions,
} from './callbacks/delivery.js';
import { CallbackDispatcher } from './callbacks/dispatcher.js';
import { createSigningKey } from './callbacks/sign.js';
import { EventFeed, type MockListener } from './events.js';
import { FaultList, type MockFaults } from './faults/fault-list.js';
import { checkResendFault } from './faults/fault-rules.js';
import type { MockService } from './mock-service.js';
import {
  callbackUrlRule,
  type MockServiceOptions,
  type ResolvedServiceOptions,
  resolveServiceOptions,
} from './options.js';
import { type Caps, createCaps, defaultLimits, type Limits } from './state/cap.js';
import { describeMatch, EventLog, isMatching } from './state/event-log.js';
import { type MockPayment, type MockPayments, PaymentBook } from './state/payments.js';
import { defaultCredential, SeededIds } from './state/seeded-ids.js';

const waitRules = {
  timeoutMs: withDefault(5_000, timerMs(0)),
} satisfies OptionRules<WaitOptions>;
const resendRules = {
  fault: optional((value) => checkResendFault(value)),
} satisfies OptionRules<ResendOptions>;
const deliveryMatchRules = {
  referenceNumber: optional(text),
  status: optional(text),
  attempt: optional(wholeNumber({ min: 1 })),
  acknowledged: optional(boolean),
} satisfies OptionRules<DeliveryMatch>;
const requestMatchRules = {
  merchantPaymentReference: optional(text),
  method: optional(text),
  path: optional(text),
} satisfies OptionRules<RequestMatch>;

/**
 * Makes a mock service without an HTTP server, for msw and for tests that call it directly. Without
 * `apiKey` or `apiSecret` any is accepted. Callbacks are still sent over HTTP.
 *
 * @throws {InvalidOptionError} when an option is invalid
 */
export function createMockService(options: MockServiceOptions = {}): MockService {
  return new InProcessService(resolveServiceOptions(options));
}

/** @internal */
export interface ServiceInside {
  readonly feed: EventFeed;
  readonly payments: PaymentBook;
  readonly dispatcher: CallbackDispatcher;
  readonly faults: FaultList;
  readonly caps: Caps;
  readonly limits: Limits;
}

/** @internal */
export class InProcessService implements MockService {
  readonly #options: ResolvedServiceOptions;
  readonly #ids: SeededIds;
  readonly #signingSecret: string;
  readonly #limits: Limits;
  readonly #caps: Caps;
  readonly #requests: EventLog<RecordedRequest>;
  readonly #deliveries: EventLog<DeliveryAttempt>;
  readonly #feed = new EventFeed();
  readonly #faults = new FaultList((faults) => this.#feed.emit({ type: 'faults', faults }));
  readonly #payments: PaymentBook;
  readonly #automatic: AutomaticStatuses;
  readonly #waiting: WaitingRequests;
  readonly #gateway: Gateway;
  readonly #sender: CallbackSender;
  readonly #dispatcher: CallbackDispatcher;
  #callbackUrl: string | undefined;
  #isClosed = false;

  constructor(options: ResolvedServiceOptions, limits = defaultLimits) {
    const { clock, initialStatus } = options;
    this.#options = options;
    this.#ids = new SeededIds(options.seed);
    this.#signingSecret = options.signingSecret ?? defaultCredential(options, 'signing_secret');
    this.#callbackUrl = options.callbackUrl;
    this.#limits = limits;
    this.#caps = createCaps(limits, (kind, message) => {
      // Afterwards, since a listener may reset the service, which is in the middle of a change.
      queueMicrotask(() => {
        if (this.#isClosed || this.#feed.emit({ type: 'limit', kind, message })) return;
        process.emitWarning(message, { type: 'MockServerWarning', code: 'MOCK_LIMIT' });
      });
    });
    this.#requests = new EventLog({ cap: this.#caps.requests, sizeOf: sizeOfRequest });
    this.#deliveries = new EventLog({
      cap: this.#caps.deliveries,
      sizeOf: sizeOfAttempt,
      onDrop: (attempt) => this.#dispatcher.forget(attempt),
    });
    this.#payments = new PaymentBook({
      cap: this.#caps.payments,
      clock,
      ids: this.#ids,
      initialStatus,
      onChange: (payment) => {
        if (payment.history.length === 1) this.#automatic.schedule(payment);
        else this.#automatic.cancel(payment);
        this.#feed.emit({ type: 'payment', payment });
      },
    });
    this.#automatic = new AutomaticStatuses({
      clock,
      status: options.autoStatus,
      afterMs: options.autoStatusAfterMs,
      setStatus: (payment, status) => this.#change(payment, status),
    });
    this.#waiting = new WaitingRequests(clock);
    this.#gateway = createGateway({
      answerFields: options.answerFields,
      clock,
      profile: options.profile,
      credentials: { apiKey: options.apiKey, apiSecret: options.apiSecret },
      faults: this.#faults,
      ids: this.#ids,
      log: this.#requests,
      payments: this.#payments,
      waiting: this.#waiting,
      onRequest: (request) => this.#feed.emit({ type: 'request', request }),
    });
    this.#sender = new CallbackSender(options.callbackTimeoutMs);
    this.#dispatcher = new CallbackDispatcher({
      cap: this.#caps.callbacks,
      clock,
      ids: this.#ids,
      faults: this.#faults,
      log: this.#deliveries,
      sender: this.#sender,
      signingKey: createSigningKey('signingSecret', this.#signingSecret),
      signatureEncoding: options.signatureEncoding,
      timestampUnit: options.timestampUnit,
      retryScheduleMs: options.retryScheduleMs,
      retrySigning: options.retrySigning,
      onAttempt: (attempt) => this.#feed.emit({ type: 'attempt', attempt }),
      onDelivery: (delivery) => this.#feed.emit({ type: 'delivery', delivery }),
    });
  }

  get apiKey(): string | undefined {
    return this.#options.apiKey;
  }
  get apiSecret(): string | undefined {
    return this.#options.apiSecret;
  }
  get signingSecret(): string {
    return this.#signingSecret;
  }
  get seed(): number {
    return this.#options.seed;
  }
  get callbackUrl(): string | undefined {
    return this.#callbackUrl;
  }
  set callbackUrl(url: string | undefined) {
    this.#callbackUrl = callbackUrlRule(url, 'callbackUrl');
    this.#feed.emit({ type: 'settings' });
  }
  get payments(): MockPayments {
    return this.#payments;
  }
  get requests(): readonly RecordedRequest[] {
    return this.#requests.events;
  }
  get deliveries(): readonly DeliveryAttempt[] {
    return this.#deliveries.events;
  }
  get faults(): MockFaults {
    return this.#faults;
  }

  async fetch(request: Request): Promise<Response> {
    return toResponse(await this.answer(fromRequest(request)));
  }

  /** The service's API (interface section 4.1). */
  protected answer(request: PlainRequest): Promise<PlainAnswer> {
    this.#assertOpen();
    return this.#gateway.answer(request);
  }

  async setStatus(referenceNumber: string, status: string): Promise<Delivery> {
    this.#assertOpen();
    return this.#change(this.#payments.require(referenceNumber), status);
  }

  #change(before: MockPayment, status: string): Promise<Delivery> {
    const payment = this.#payments.change(before, status);
    return this.#dispatcher.send({ payment, url: this.#callbackUrl });
  }

  async resend(id: string, options: ResendOptions = {}): Promise<Delivery> {
    this.#assertOpen();
    const { fault } = resolveOptions(options, resendRules);
    return this.#dispatcher.send({ payment: this.#findChange(id), url: this.#callbackUrl, fault });
  }

  subscribe(listener: MockListener): () => void {
    func('that is called with each event')(listener, 'listener');
    this.#assertOpen();
    return this.#feed.subscribe(listener);
  }

  async waitForDelivery(match: DeliveryMatch, options: WaitOptions = {}): Promise<DeliveryAttempt> {
    const wanted = resolveOptions(match, deliveryMatchRules, { owner: 'match' });
    const { timeoutMs } = resolveOptions(options, waitRules);
    this.#assertOpen();
    return this.#deliveries.wait({
      matches: (attempt) => isMatching(wanted, toAttemptFacts(attempt)),
      timeoutMs,
      describeTimeout: () =>
        [
          `No delivery with ${describeMatch(wanted)} within ${timeoutMs} ms`,
          ...this.#describeDeliveries(),
        ].join('\n'),
    });
  }

  async waitForRequest(match: RequestMatch, options: WaitOptions = {}): Promise<RecordedRequest> {
    const wanted = resolveOptions(match, requestMatchRules, { owner: 'match' });
    const { timeoutMs } = resolveOptions(options, waitRules);
    this.#assertOpen();
    return this.#requests.wait({
      matches: (request) => isMatching(wanted, toRequestFacts(request)),
      timeoutMs,
      describeTimeout: () =>
        [
          `No request with ${describeMatch(wanted)} within ${timeoutMs} ms`,
          ...this.#requests.describe('requests', describeRequest),
        ].join('\n'),
    });
  }

  reset(): void {
    this.#forget(new MockServerError('WAIT_TIMEOUT', 'The mock service was reset'));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#forget(new MockServerError('SERVER_CLOSED', 'The mock service was closed'));
    this.#feed.clear();
    this.#sender.abort();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** For the control interface. */
  protected get inside(): ServiceInside {
    return {
      feed: this.#feed,
      payments: this.#payments,
      dispatcher: this.#dispatcher,
      faults: this.#faults,
      caps: this.#caps,
      limits: this.#limits,
    };
  }

  /** Keeps secrets out of what is printed. */
  toJSON(): Record<string, unknown> {
    return {};
  }
  [inspect.custom](): string {
    return `MockService ${inspect(this.toJSON())}`;
  }

  #forget(reason: MockServerError): void {
    this.#dispatcher.cancel();
    this.#automatic.cancelAll();
    this.#requests.clear(reason);
    this.#waiting.cutOff(reason.message);
    this.#deliveries.clear(reason);
    this.#faults.clear();
    this.#payments.clear();
    // With a random seed, an application that keeps its database must not get a number twice.
    if (this.#options.isSeedGiven) this.#ids.restart();
    this.#feed.emit({ type: 'reset' });
  }

  // Identifiers of payments and of deliveries come from separate sequences, so no id names two things.
  #findChange(id: string): MockPayment {
    return this.#dispatcher.get(id)?.payment ?? this.#payments.require(id);
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new MockServerError('SERVER_CLOSED', 'The mock service is closed; start another one');
  }

  #describeDeliveries(): string[] {
    const lines = this.#deliveries.describe('delivery attempts', describeAttempt);
    if (this.#callbackUrl === undefined) {
      lines.push('callbackUrl is not set, so no callback is sent: set it, or give it as an option');
    } else if (this.deliveries.length === 0) {
      lines.push('A callback is sent when a status changes: call setStatus');
    }
    return [...lines, ...this.#dispatcher.describePending().map((line) => `Also ${line}`)];
  }
}
