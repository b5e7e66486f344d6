import { inspect } from 'node:util';
import { MockServerError } from '../errors.js';
import { func, type OptionRules, optional, resolveOptions } from '../protocol/options.js';
import { createGateway, type Gateway } from './api/gateway.js';
import {
  fromRequest,
  type PlainAnswer,
  type PlainRequest,
  toResponse,
} from './api/http-messages.js';
import { type RecordedRequest, type RequestMatch, requestEntries } from './api/recorded-request.js';
import { WaitingRequests } from './api/request-faults.js';
import {
  attemptEntries,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryMatch,
  type ResendOptions,
} from './callbacks/delivery.js';
import { CallbackDispatcher } from './callbacks/dispatcher.js';
import { checkResendFault, FaultList, type MockFaults } from './faults/fault-list.js';
import { EventFeed, type MockListener, type MockService } from './mock-service.js';
import {
  callbackUrlRule,
  type MockServiceOptions,
  type ResolvedServiceOptions,
  resolveServiceOptions,
} from './options.js';
import { type Caps, createCaps, EventLog, KEPT, type WaitOptions } from './state/cap.js';
import type { PaymentOrReference } from './state/payment-reference.js';
import {
  AutomaticStatuses,
  type MockPayment,
  type MockPayments,
  PaymentBook,
} from './state/payments.js';
import { defaultCredential, SeededIds } from './state/seeded-ids.js';
import type { SavedState } from './state-file.js';

const resendRules = {
  fault: optional((value) => checkResendFault(value)),
} satisfies OptionRules<ResendOptions>;

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
}

/** @internal */
export class InProcessService implements MockService {
  readonly #options: ResolvedServiceOptions;
  readonly #ids: SeededIds;
  readonly #signingSecret: string;
  readonly #caps: Caps;
  readonly #requests: EventLog<RecordedRequest>;
  readonly #deliveries: EventLog<DeliveryAttempt>;
  readonly #feed = new EventFeed();
  readonly #faults = new FaultList((faults) => this.#feed.emit({ type: 'faults', faults }));
  readonly #payments: PaymentBook;
  readonly #automatic: AutomaticStatuses;
  readonly #waiting: WaitingRequests;
  readonly #gateway: Gateway;
  readonly #dispatcher: CallbackDispatcher;
  #callbackUrl: string | undefined;
  #isClosed = false;

  constructor(options: ResolvedServiceOptions, limit = KEPT) {
    const { clock, initialStatus } = options;
    this.#options = options;
    this.#ids = new SeededIds(options.seed);
    this.#signingSecret = options.signingSecret ?? defaultCredential(options, 'signing_secret');
    this.#callbackUrl = options.callbackUrl;
    this.#caps = createCaps(limit, (kind, message) => {
      // Afterwards, since a listener may reset the service, which is in the middle of a change.
      queueMicrotask(() => {
        if (this.#isClosed || this.#feed.emit({ type: 'limit', kind, message })) return;
        process.emitWarning(message, { type: 'MockServerWarning', code: 'MOCK_LIMIT' });
      });
    });
    this.#requests = new EventLog({ ...requestEntries, cap: this.#caps.requests });
    this.#deliveries = new EventLog({
      ...attemptEntries,
      cap: this.#caps.deliveries,
      onDrop: (attempt) => this.#dispatcher.forget(attempt),
      describeMore: () => this.#describeDeliveries(),
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
      settings: options,
      faults: this.#faults,
      ids: this.#ids,
      log: this.#requests,
      payments: this.#payments,
      waiting: this.#waiting,
      onRequest: (request) => this.#feed.emit({ type: 'request', request }),
    });
    this.#dispatcher = new CallbackDispatcher({
      settings: options,
      signingSecret: this.#signingSecret,
      getUrl: () => this.#callbackUrl,
      cap: this.#caps.callbacks,
      ids: this.#ids,
      faults: this.#faults,
      log: this.#deliveries,
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
    return this.#gateway(request);
  }

  async setStatus(payment: PaymentOrReference, status: string): Promise<Delivery> {
    this.#assertOpen();
    return this.#change(this.#payments.require(payment), status);
  }

  pay(payment: PaymentOrReference): Promise<Delivery> {
    return this.setStatus(payment, 'paid');
  }

  #change(before: MockPayment, status: string): Promise<Delivery> {
    const payment = this.#payments.change(before, status);
    return this.#dispatcher.send({ payment });
  }

  async resend(id: PaymentOrReference, options: ResendOptions = {}): Promise<Delivery> {
    this.#assertOpen();
    const { fault } = resolveOptions(options, resendRules);
    // Identifiers of payments and of deliveries come from separate sequences, so no id names two things.
    const delivery = typeof id === 'string' ? this.#dispatcher.get(id) : undefined;
    const payment = delivery?.payment ?? this.#payments.require(id);
    return this.#dispatcher.send({ payment, fault });
  }

  subscribe(listener: MockListener): () => void {
    func('that is called with each event')(listener, 'listener');
    this.#assertOpen();
    return this.#feed.subscribe(listener);
  }

  async waitForDelivery(
    match: DeliveryMatch | PaymentOrReference,
    options?: WaitOptions,
  ): Promise<DeliveryAttempt> {
    this.#assertOpen();
    return this.#deliveries.waitFor(match, options);
  }

  async waitForRequest(
    match: RequestMatch | PaymentOrReference,
    options?: WaitOptions,
  ): Promise<RecordedRequest> {
    this.#assertOpen();
    return this.#requests.waitFor(match, options);
  }

  reset(): void {
    this.#forget(new MockServerError('WAIT_TIMEOUT', 'The mock service was reset'));
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#forget(new MockServerError('SERVER_CLOSED', 'The mock service was closed'));
    this.#feed.clear();
    await this.#dispatcher.close();
  }

  protected save(): SavedState {
    const { seed, clock } = this.#options;
    return {
      seed,
      ids: this.#ids.counts(),
      aheadMs: clock.runs ? clock.now() - Date.now() : 0,
      payments: this.#payments.list(),
      requests: this.#requests.events,
      attempts: this.#deliveries.events,
      deliveries: this.#dispatcher.list(),
    };
  }

  /** Goes on where an earlier run ended. */
  protected restore(saved: SavedState): void {
    const { seed, clock } = this.#options;
    // Another seed gives other identifiers.
    if (saved.seed === seed) this.#ids.restore(saved.ids);
    if (clock.runs) clock.moveTo(Date.now() + saved.aheadMs);
    for (const payment of saved.payments) {
      this.#payments.restore(payment);
      if (payment.history.length === 1) this.#automatic.schedule(payment);
    }
    for (const request of saved.requests) this.#requests.push(request);
    for (const attempt of saved.attempts) this.#deliveries.push(attempt);
    for (const delivery of saved.deliveries) this.#dispatcher.restore(delivery);
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

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new MockServerError('SERVER_CLOSED', 'The mock service is closed; start another one');
  }

  #describeDeliveries(): string[] {
    const lines = this.#dispatcher.describePending().map((line) => `Also ${line}`);
    if (this.#callbackUrl === undefined) {
      lines.unshift(
        'callbackUrl is not set, so no callback is sent: set it, or give it as an option',
      );
    } else if (this.deliveries.length === 0) {
      lines.unshift('A callback is sent when a status changes: call setStatus');
    }
    return lines;
  }
}
