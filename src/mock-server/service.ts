import { inspect } from 'node:util';
import { assertOptionsObject, assertWholeNumber } from '../protocol/assert-option.js';
import { LONGEST_TIMER_MS } from './clock.js';
import { CallbackSender } from './deliver.js';
import {
  type Delivery,
  type DeliveryAttempt,
  type DeliveryMatch,
  describeAttempt,
  isMatchingAttempt,
  type WaitOptions,
} from './delivery.js';
import { CallbackDispatcher } from './dispatcher.js';
import { EventLog } from './event-log.js';
import { FaultList, type MockFaults } from './faults.js';
import { createGateway, type Gateway } from './gateway.js';
import {
  type MockServiceOptions,
  type ResolvedServiceOptions,
  resolveCallbackUrl,
  resolveServiceOptions,
} from './options.js';
import { type MockPayments, PaymentBook } from './payment-book.js';
import {
  describeRequest,
  isMatchingRequest,
  type RecordedRequest,
  type RequestMatch,
} from './recorded-request.js';
import { SeededIds } from './seeded-ids.js';
import { createSigningKey } from './sign.js';
import { WaitingRequests } from './waiting-requests.js';

/** The mock of the Merchant Payment Service, without a network: its state, its API as a function, its callbacks. */
export interface MockService {
  /** The API key that requests must present; `undefined` when any is accepted. */
  readonly apiKey: string | undefined;
  /** The API secret that requests must present; `undefined` when any is accepted. */
  readonly apiSecret: string | undefined;
  /** The secret callbacks are signed with. */
  readonly signingSecret: string;
  /** What identifiers and default credentials follow from. Give it as `seed` to run the same again. */
  readonly seed: number;
  /**
   * Where callbacks are sent; `undefined` for nowhere. Can be set, for an endpoint that starts
   * later; setting it throws {@link InvalidOptionError} for what is no http or https URL.
   */
  callbackUrl: string | undefined;
  /** The payments. */
  readonly payments: MockPayments;
  /** The requests received, oldest first; the last 10,000. Live. */
  readonly requests: readonly RecordedRequest[];
  /** The attempts to deliver a callback that have ended, oldest first; the last 10,000. Live. */
  readonly deliveries: readonly DeliveryAttempt[];
  /** Things that are to go wrong. */
  readonly faults: MockFaults;

  /**
   * Answers a request as the service does (interface section 4.1): 201 with the status record for a
   * payment created (the mock's own choice, the interface does not show it), 401
   * `INVALID_CREDENTIALS` for missing or wrong credentials. Its own choices too: 400
   * `INVALID_REQUEST`, 404, 405, 413 over 1 MiB, 415.
   *
   * A fault of the network appears as with `fetch`: the promise rejects, or the answer's body ends
   * in an error.
   */
  fetch(request: Request): Promise<Response>;

  /**
   * Sets a payment's status and sends the callback (interface sections 3 and 6). Any status may
   * follow any other; setting the same one again is a change too. Settles when the first attempt
   * has ended, whatever its outcome; at once without a callbackUrl (`not-configured`) and with a
   * `reorder` fault (`held`).
   *
   * @throws {InvalidOptionError} when there is no such payment, or the status is blank
   * @throws {Error} after `close()`
   */
  setStatus(referenceNumber: string, status: string): Promise<Delivery>;

  /**
   * Sends the callback of the payment's present status once more: a duplicate, as a delivery of its own.
   *
   * @throws {InvalidOptionError} when there is no such payment
   * @throws {Error} after `close()`
   */
  resend(referenceNumber: string): Promise<Delivery>;

  /**
   * The first attempt that matches and has ended, past or future.
   *
   * @throws {Error} when none came in time (the message holds the delivery log), or the service was
   * reset or closed meanwhile
   * @throws {InvalidOptionError} when `timeoutMs` is out of range
   */
  waitForDelivery(match: DeliveryMatch, options?: WaitOptions): Promise<DeliveryAttempt>;

  /**
   * The first request that matches, past or future. It has arrived in full; it may not be answered
   * yet, so that a test can go on while a fault holds the answer back.
   *
   * @throws {Error} when none came in time, or the service was reset or closed meanwhile
   * @throws {InvalidOptionError} when `timeoutMs` is out of range
   */
  waitForRequest(match: RequestMatch, options?: WaitOptions): Promise<RecordedRequest>;

  /**
   * As if just started: payments, requests, deliveries and faults are forgotten, retries called
   * off, requests that a fault holds are cut off, identifiers begin again. Settings stay.
   */
  reset(): void;

  /** Ends everything that is under way and leaves no timer and no socket behind. May be called twice. */
  close(): Promise<void>;
  /** The same as {@link MockService.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Entries kept in each of the two logs. */
const LOG_LIMIT = 10_000;
/** Lines of a log in a message. */
const DESCRIBED_EVENTS = 100;
const DEFAULT_WAIT_MS = 5_000;

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
export class InProcessService implements MockService {
  readonly #options: ResolvedServiceOptions;
  readonly #ids: SeededIds;
  readonly #signingSecret: string;
  readonly #requests = new EventLog<RecordedRequest>(LOG_LIMIT);
  readonly #deliveries = new EventLog<DeliveryAttempt>(LOG_LIMIT);
  readonly #faults = new FaultList();
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
    this.#signingSecret = options.signingSecret ?? this.#ids.token('signing_secret');
    this.#callbackUrl = options.callbackUrl;
    this.#payments = new PaymentBook({ clock, ids: this.#ids, initialStatus });
    this.#waiting = new WaitingRequests(clock);
    this.#gateway = createGateway({
      clock,
      credentials: { apiKey: options.apiKey, apiSecret: options.apiSecret },
      faults: this.#faults,
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
    return this.#dispatcher.send(payment, this.#callbackUrl);
  }

  async resend(referenceNumber: string): Promise<Delivery> {
    this.#assertOpen();
    return this.#dispatcher.send(this.#payments.require(referenceNumber), this.#callbackUrl);
  }

  async waitForDelivery(match: DeliveryMatch, options: WaitOptions = {}): Promise<DeliveryAttempt> {
    assertOptionsObject('match', match, 'the fields to match');
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
    const timeoutMs = resolveTimeout(options);
    this.#assertOpen();
    return this.#requests.wait({
      matches: (request) => isMatchingRequest(match, request),
      timeoutMs,
      describeTimeout: () =>
        [
          `No request with ${describeMatch(match)} came within ${timeoutMs} ms`,
          ...describeLog('requests', this.requests, describeRequest),
        ].join('\n'),
    });
  }

  reset(): void {
    this.#forget('The mock service was reset');
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#forget('The mock service was closed');
    this.#sender.close();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
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
    this.#waiting.cutOff(reason);
    this.#requests.clear(reason);
    this.#deliveries.clear(reason);
    this.#faults.clear();
    this.#payments.clear();
    this.#ids.restart();
  }

  #assertOpen(): void {
    if (this.#isClosed) throw new Error('The mock service is closed; start another one');
  }

  #describeDeliveries(): string[] {
    const lines = describeLog('delivery attempts', this.deliveries, describeAttempt);
    if (this.#callbackUrl === undefined) {
      lines.push('callbackUrl is not set, so no callback is sent: set it, or give it as an option');
    } else if (this.deliveries.length === 0) {
      lines.push('A callback is sent when a status changes: call setStatus');
    }
    return [...lines, ...this.#dispatcher.describePending().map((line) => `Also ${line}`)];
  }
}

function resolveTimeout({ timeoutMs = DEFAULT_WAIT_MS }: WaitOptions): number {
  assertWholeNumber('timeoutMs', timeoutMs, {
    min: 0,
    max: LONGEST_TIMER_MS,
    unit: 'milliseconds',
  });
  return timeoutMs;
}

function describeMatch(match: object): string {
  const wanted = Object.entries(match).filter(([, value]) => value !== undefined);
  if (wanted.length === 0) return 'any fields';
  return wanted.map(([field, value]) => `${field} ${String(value)}`).join(', ');
}

function describeLog<Event>(
  what: string,
  events: readonly Event[],
  describe: (event: Event) => string,
): string[] {
  if (events.length === 0) return [`There are no ${what}`];
  const shown = events.slice(-DESCRIBED_EVENTS);
  const left = events.length - shown.length;
  const heading =
    left > 0 ? `The last ${shown.length} of ${events.length} ${what}:` : `The ${what}:`;
  return [heading, ...shown.map((event) => `  ${describe(event)}`)];
}
