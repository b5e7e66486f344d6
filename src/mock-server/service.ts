import { inspect } from 'node:util';
import {
  assertFunction,
  assertKnownOptions,
  assertOptionsObject,
  assertWholeNumber,
  LONGEST_TIMER_MS,
  type OptionNames,
} from '../protocol/assert-option.js';
import { createGateway, type Gateway } from './api/gateway.js';
import {
  describeRequest,
  isMatchingRequest,
  type RecordedRequest,
  type RequestMatch,
  sizeOfRequest,
} from './api/recorded-request.js';
import { WaitingRequests } from './api/waiting-requests.js';
import { CallbackSender } from './callbacks/deliver.js';
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryMatch,
  describeAttempt,
  isMatchingAttempt,
  type ResendOptions,
  sizeOfAttempt,
  type WaitOptions,
} from './callbacks/delivery.js';
import { CallbackDispatcher } from './callbacks/dispatcher.js';
import { createSigningKey } from './callbacks/sign.js';
import { describeEvents, describeMatch, EventLog } from './event-log.js';
import { EventFeed, type MockListener } from './events.js';
import { copyFault, FaultList, type MockFaults } from './faults/fault-list.js';
import { assertResendFault } from './faults/fault-rules.js';
import type { MockService } from './mock-service.js';
import {
  type MockServiceOptions,
  type ResolvedServiceOptions,
  resolveCallbackUrl,
  resolveServiceOptions,
} from './options.js';
import type { MockPayment, MockPayments } from './payment.js';
import { PaymentBook } from './payment-book.js';
import { defaultCredential, SeededIds } from './seeded-ids.js';

/** What each of the two logs keeps. */
const LOG_LIMITS = { limit: 10_000, limitBytes: 67_108_864 };
const DEFAULT_WAIT_MS = 5_000;

const RESEND_NAMES: OptionNames<ResendOptions> = { fault: true };
const WAIT_NAMES: OptionNames<WaitOptions> = { timeoutMs: true };
// A misspelt field would match everything.
const DELIVERY_MATCH_NAMES: OptionNames<DeliveryMatch> = {
  referenceNumber: true,
  status: true,
  attempt: true,
  acknowledged: true,
};
const REQUEST_MATCH_NAMES: OptionNames<RequestMatch> = {
  merchantPaymentReference: true,
  method: true,
  path: true,
};

/**
 * Makes a mock service without an HTTP server, for msw and for tests that call it directly. Where
 * `apiKey` or `apiSecret` is not given, any is accepted. Callbacks are sent over HTTP all the same.
 *
 * @throws {InvalidOptionError} when an option can't be right
 */
export function createMockService(options: MockServiceOptions = {}): MockService {
  return new InProcessService(resolveServiceOptions(options));
}

/** @internal */
export interface ServiceInside {
  readonly feed: EventFeed;
  readonly payments: PaymentBook;
  readonly dispatcher: CallbackDispatcher;
}

/** @internal */
export class InProcessService implements MockService {
  readonly #options: ResolvedServiceOptions;
  readonly #ids: SeededIds;
  readonly #signingSecret: string;
  readonly #requests = new EventLog<RecordedRequest>({ ...LOG_LIMITS, sizeOf: sizeOfRequest });
  readonly #deliveries = new EventLog<DeliveryAttempt>({
    ...LOG_LIMITS,
    sizeOf: sizeOfAttempt,
    onDrop: (attempt) => this.#dispatcher.forget(attempt),
  });
  readonly #feed = new EventFeed();
  readonly #faults = new FaultList(this.#feed);
  readonly #payments: PaymentBook;
  readonly #waiting: WaitingRequests;
  readonly #gateway: Gateway;
  readonly #sender: CallbackSender;
  readonly #dispatcher: CallbackDispatcher;
  #callbackUrl: string | undefined;
  #isClosed = false;

  constructor(options: ResolvedServiceOptions) {
    const { clock, initialStatus } = options;
    this.#options = options;
    this.#ids = new SeededIds(options.seed);
    this.#signingSecret = options.signingSecret ?? defaultCredential(options, 'signing_secret');
    this.#callbackUrl = options.callbackUrl;
    this.#payments = new PaymentBook({
      clock,
      feed: this.#feed,
      ids: this.#ids,
      initialStatus,
    });
    this.#waiting = new WaitingRequests(clock);
    this.#gateway = createGateway({
      clock,
      credentials: { apiKey: options.apiKey, apiSecret: options.apiSecret },
      faults: this.#faults,
      feed: this.#feed,
      ids: this.#ids,
      log: this.#requests,
      payments: this.#payments,
      waiting: this.#waiting,
    });
    this.#sender = new CallbackSender(options.callbackTimeoutMs);
    this.#dispatcher = new CallbackDispatcher({
      clock,
      ids: this.#ids,
      faults: this.#faults,
      feed: this.#feed,
      log: this.#deliveries,
      sender: this.#sender,
      signingKey: createSigningKey('signingSecret', this.#signingSecret),
      signatureEncoding: options.signatureEncoding,
      retryScheduleMs: options.retryScheduleMs,
      retrySigning: options.retrySigning,
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
    this.#callbackUrl = resolveCallbackUrl(url);
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
    this.#assertOpen();
    return this.#gateway.fetch(request);
  }

  async setStatus(referenceNumber: string, status: string): Promise<Delivery> {
    this.#assertOpen();
    const payment = this.#payments.setStatus(referenceNumber, status);
    return this.#dispatcher.send({ payment, url: this.#callbackUrl });
  }

  async resend(id: string, options: ResendOptions = {}): Promise<Delivery> {
    this.#assertOpen();
    assertOptionsObject('options', options, 'fault');
    assertKnownOptions(options, RESEND_NAMES);
    const { fault } = options;
    if (fault !== undefined) assertResendFault(fault);
    return this.#dispatcher.send({
      payment: this.#findChange(id),
      url: this.#callbackUrl,
      fault: fault && copyFault(fault),
    });
  }

  subscribe(listener: MockListener): () => void {
    assertFunction('listener', listener, 'that is called with each event');
    this.#assertOpen();
    return this.#feed.subscribe(listener);
  }

  async waitForDelivery(match: DeliveryMatch, options: WaitOptions = {}): Promise<DeliveryAttempt> {
    assertOptionsObject('match', match, 'the fields to match');
    assertKnownOptions(match, DELIVERY_MATCH_NAMES);
    const timeoutMs = resolveTimeout(options);
    this.#assertOpen();
    return this.#deliveries.wait({
      matches: (attempt) => isMatchingAttempt(match, attempt),
      timeoutMs,
      describeTimeout: () =>
        [
          `No delivery with ${describeMatch(match)} came within ${timeoutMs} ms`,
          ...this.#describeDeliveries(),
        ].join('\n'),
    });
  }

  async waitForRequest(match: RequestMatch, options: WaitOptions = {}): Promise<RecordedRequest> {
    assertOptionsObject('match', match, 'the fields to match');
    assertKnownOptions(match, REQUEST_MATCH_NAMES);
    const timeoutMs = resolveTimeout(options);
    this.#assertOpen();
    return this.#requests.wait({
      matches: (request) => isMatchingRequest(match, request),
      timeoutMs,
      describeTimeout: () =>
        [
          `No request with ${describeMatch(match)} came within ${timeoutMs} ms`,
          ...describeEvents('requests', this.requests, describeRequest),
        ].join('\n'),
    });
  }

  reset(): void {
    this.#forget('The mock service was reset');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#forget('The mock service was closed');
    this.#feed.clear();
    this.#sender.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  /** What the control interface needs beyond the public calls. */
  protected get inside(): ServiceInside {
    return { feed: this.#feed, payments: this.#payments, dispatcher: this.#dispatcher };
  }

  /** The secrets are for the tests that ask for them, not for whatever prints the object. */
  toJSON(): Record<string, unknown> {
    return {};
  }
  [inspect.custom](): string {
    return `MockService ${inspect(this.toJSON())}`;
  }

  #forget(reason: string): void {
    this.#dispatcher.cancel();
    this.#requests.clear(reason);
    this.#waiting.cutOff(reason);
    this.#deliveries.clear(reason);
    this.#faults.clear();
    this.#payments.clear();
    this.#ids.restart();
    this.#feed.emit({ type: 'reset' });
  }

  // By payment, by delivery or by attempt: the three draw their identifiers from sequences of their own.
  #findChange(id: string): MockPayment {
    return this.#dispatcher.get(id)?.payment ?? this.#payments.require(id);
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new Error('The mock service is closed; start another one');
  }

  #describeDeliveries(): string[] {
    const lines = describeEvents('delivery attempts', this.deliveries, describeAttempt);
    if (this.#callbackUrl === undefined) {
      lines.push('callbackUrl is not set, so no callback is sent: set it, or give it as an option');
    } else if (this.deliveries.length === 0) {
      lines.push('A callback is sent when a status changes: call setStatus');
    }
    return [...lines, ...this.#dispatcher.describePending().map((line) => `Also ${line}`)];
  }
}

function resolveTimeout(options: WaitOptions): number {
  assertOptionsObject('options', options, 'timeoutMs');
  assertKnownOptions(options, WAIT_NAMES);
  const { timeoutMs = DEFAULT_WAIT_MS } = options;
  assertWholeNumber('timeoutMs', timeoutMs, {
    min: 0,
    max: LONGEST_TIMER_MS,
    unit: 'milliseconds',
  });
  return timeoutMs;
}
