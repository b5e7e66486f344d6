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
  type CallbackEdit,
  type Delivery,
  type DeliveryAttempt,
  type DeliveryMatch,
  type ResendOptions,
} from './callbacks/delivery.js';
import { CallbackDispatcher } from './callbacks/dispatcher.js';
import { checkResendFault, FaultList } from './faults/fault-list.js';
import { EventFeed, type MockListener, type MockService } from './mock-service.js';
import {
  callbackUrlRule,
  type MockServiceOptions,
  type ResolvedServiceOptions,
  resolveServiceOptions,
} from './options.js';
import type { PaymentOrReference } from './state/cap.js';
import { Cap, type CappedKind, EventLog, KEPT, type WaitOptions } from './state/cap.js';
import type { ServiceClock } from './state/clock.js';
import { AutomaticStatuses, type MockPayment, PaymentBook } from './state/payments.js';
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

/**
 * The service, with the parts that the control interface shows. None of them shows a secret when it is printed.
 *
 * @internal
 */
export class InProcessService implements MockService {
  readonly feed = new EventFeed();
  readonly faults = new FaultList((faults) => this.feed.emit({ type: 'faults', faults }));
  readonly payments: PaymentBook;
  readonly dispatcher: CallbackDispatcher;
  readonly clock: ServiceClock;
  readonly #options: ResolvedServiceOptions;
  readonly #ids: SeededIds;
  readonly #signingSecret: string;
  readonly #requestLog: EventLog<RecordedRequest>;
  readonly #deliveryLog: EventLog<DeliveryAttempt>;
  readonly #automatic: AutomaticStatuses;
  readonly #waiting: WaitingRequests;
  readonly #gateway: Gateway;
  #callbackUrl: string | undefined;
  #isClosed = false;

  constructor(options: ResolvedServiceOptions, limit = KEPT) {
    const { clock, initialStatus } = options;
    const cap = (kind: CappedKind) => new Cap(kind, limit, (reached) => this.#tellOfLimit(reached));
    this.#options = options;
    this.clock = clock;
    this.#ids = new SeededIds(options.seed);
    this.#signingSecret = options.signingSecret ?? defaultCredential(options, 'signing_secret');
    this.#callbackUrl = options.callbackUrl;
    this.#requestLog = new EventLog(requestEntries, cap('requests'));
    this.#deliveryLog = new EventLog(attemptEntries, cap('deliveries'), () =>
      this.#describeDeliveries(),
    );
    this.payments = new PaymentBook({
      cap: cap('payments'),
      clock,
      ids: this.#ids,
      initialStatus,
      onChange: (payment) => {
        this.#automatic.consider(payment);
        this.feed.emit({ type: 'payment', payment });
      },
    });
    this.#automatic = new AutomaticStatuses(options, (payment, status) =>
      this.#change(payment, status),
    );
    this.#waiting = new WaitingRequests(clock);
    this.#gateway = createGateway({
      settings: options,
      faults: this.faults,
      ids: this.#ids,
      log: this.#requestLog,
      payments: this.payments,
      waiting: this.#waiting,
      onRequest: (request) => this.feed.emit({ type: 'request', request }),
    });
    this.dispatcher = new CallbackDispatcher({
      settings: options,
      signingSecret: this.#signingSecret,
      getUrl: () => this.#callbackUrl,
      cap: cap('callbacks'),
      ids: this.#ids,
      faults: this.faults,
      log: this.#deliveryLog,
      emit: (event) => this.feed.emit(event),
    });
  }

  get requests(): readonly RecordedRequest[] {
    return this.#requestLog.entries;
  }
  get deliveries(): readonly DeliveryAttempt[] {
    return this.#deliveryLog.entries;
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
    this.feed.emit({ type: 'settings' });
  }

  async fetch(request: Request): Promise<Response> {
    return toResponse(await this.answer(fromRequest(request)));
  }

  /** The service's API (interface section 4.1). */
  protected answer(request: PlainRequest, prefix?: string): Promise<PlainAnswer> {
    this.#assertOpen();
    return this.#gateway(request, prefix);
  }

  async setStatus(payment: PaymentOrReference, status: string): Promise<Delivery> {
    this.#assertOpen();
    return this.#change(this.payments.require(payment), status);
  }

  pay(payment: PaymentOrReference): Promise<Delivery> {
    return this.setStatus(payment, 'paid');
  }

  #change(before: MockPayment, status: string): Promise<Delivery> {
    return this.dispatcher.send({ payment: this.payments.change(before, status) });
  }

  /** @param edit - a body that was edited by hand, for the control interface */
  async resend(
    id: PaymentOrReference,
    options: ResendOptions = {},
    edit?: CallbackEdit,
  ): Promise<Delivery> {
    this.#assertOpen();
    const { fault } = resolveOptions(options, resendRules);
    // Identifiers of payments and of deliveries come from separate sequences, so no id names two things.
    const delivery = typeof id === 'string' ? this.dispatcher.get(id) : undefined;
    const payment = delivery?.payment ?? this.payments.require(id);
    return this.dispatcher.send({ payment, fault, edit });
  }

  subscribe(listener: MockListener): () => void {
    func('that is called with each event')(listener, 'listener');
    this.#assertOpen();
    return this.feed.subscribe(listener);
  }

  async waitForDelivery(
    match: DeliveryMatch | PaymentOrReference,
    options?: WaitOptions,
  ): Promise<DeliveryAttempt> {
    this.#assertOpen();
    return this.#deliveryLog.waitFor(match, options);
  }

  async waitForRequest(
    match: RequestMatch | PaymentOrReference,
    options?: WaitOptions,
  ): Promise<RecordedRequest> {
    this.#assertOpen();
    return this.#requestLog.waitFor(match, options);
  }

  reset(): void {
    this.#forget(
      new MockServerError(
        'WAIT_TIMEOUT',
        'The mock service was reset, which ends every wait (docs/errors.md#the-mock)',
      ),
    );
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#forget(
      new MockServerError('SERVER_CLOSED', 'The mock service was closed, which ends every wait'),
    );
    this.feed.clear();
    await this.dispatcher.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  protected save(): SavedState {
    const { clock } = this;
    // Read first, so that time passes for the clock rather than against it.
    const systemMs = Date.now();
    return {
      seed: this.seed,
      ids: this.#ids.counts(),
      aheadMs: clock.runs ? clock.now() - systemMs : 0,
      payments: this.payments.list(),
      requests: this.requests,
      attempts: this.deliveries,
      deliveries: this.dispatcher.list(),
    };
  }

  /** Goes on where an earlier run ended. */
  protected restore(saved: SavedState): void {
    const { seed, clock } = this;
    // Another seed gives other identifiers.
    if (saved.seed === seed) this.#ids.restart(saved.ids);
    if (clock.runs) clock.moveTo(Date.now() + saved.aheadMs);
    for (const payment of saved.payments) {
      this.payments.restore(payment);
      this.#automatic.consider(payment);
    }
    for (const request of saved.requests) this.#requestLog.push(request);
    for (const attempt of saved.attempts) this.#deliveryLog.push(attempt);
    for (const delivery of saved.deliveries) this.dispatcher.restore(delivery);
  }

  /** Keeps secrets out of what is printed. */
  toJSON(): Record<string, unknown> {
    return {};
  }
  [inspect.custom](): string {
    return `MockService ${inspect(this.toJSON())}`;
  }

  #forget(reason: MockServerError): void {
    this.dispatcher.cancel();
    this.#automatic.cancelAll();
    this.#requestLog.clear(reason);
    this.#waiting.cutOff(reason.message);
    this.#deliveryLog.clear(reason);
    this.faults.clear();
    this.payments.clear();
    // With a random seed, an application that keeps its database must not get a number twice.
    if (this.#options.isSeedGiven) this.#ids.restart();
    this.feed.emit({ type: 'reset' });
  }

  #assertOpen(): void {
    if (!this.#isClosed) return;
    throw new MockServerError('SERVER_CLOSED', 'The mock service is closed; start another one');
  }

  #tellOfLimit({ kind, message }: Cap): void {
    // Afterwards, since a listener may reset the service, which is in the middle of a change.
    queueMicrotask(() => {
      if (!this.#isClosed) this.feed.emit({ type: 'limit', kind, message });
    });
  }

  #describeDeliveries(): string[] {
    const lines = this.dispatcher.describePending();
    if (this.#callbackUrl === undefined) {
      const why = 'callbackUrl is not set, so no callback is sent';
      return [`${why}: set it, or give it as an option`, ...lines];
    }
    if (this.deliveries.length > 0) return lines;
    return ['A callback is sent when a status changes: call setStatus', ...lines];
  }
}
