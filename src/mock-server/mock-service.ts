import type { RecordedRequest, RequestMatch } from './api/recorded-request.js';
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryMatch,
  ResendOptions,
  WaitOptions,
} from './callbacks/delivery.js';
import type { MockListener } from './events.js';
import type { MockFaults } from './faults/fault-list.js';
import type { MockPayments } from './state/payments.js';

/** The mock of the Merchant Payment Service, without a network: its state, its API as a function, its callbacks. */
export interface MockService {
  /** The API key that requests must present; `undefined` when any is accepted. */
  readonly apiKey: string | undefined;
  /** The API secret that requests must present; `undefined` when any is accepted. */
  readonly apiSecret: string | undefined;
  /** The secret callbacks are signed with. */
  readonly signingSecret: string;
  /** What identifiers follow from. Pass it as `seed` to get the same ones again. */
  readonly seed: number;
  /**
   * Where callbacks are sent; `undefined` for nowhere. Can be set, for an endpoint that starts
   * later; setting it throws `InvalidOptionError` for anything but an http or https URL.
   */
  callbackUrl: string | undefined;
  /** The payments. */
  readonly payments: MockPayments;
  /** The requests received, oldest first: the last 10,000, of 64 MiB in all. Live. */
  readonly requests: readonly RecordedRequest[];
  /** The attempts to deliver a callback that have ended, oldest first: the last 10,000, of 64 MiB in all. Live. */
  readonly deliveries: readonly DeliveryAttempt[];
  /** The faults that are still to happen. */
  readonly faults: MockFaults;

  /**
   * Answers a request as the service does (interface section 4.1): 201 with the status record for a
   * payment created (the mock's own choice, the interface does not show it), 401
   * `INVALID_CREDENTIALS` for missing or wrong credentials. Its own choices too: 400
   * `INVALID_REQUEST`, 404, 405, 413 over 1 MiB, 415.
   *
   * A fault of the network appears as with `fetch`: the promise rejects, or the answer's body ends in
   * an error, a `MockServerError` with `CONNECTION_LOST`.
   */
  fetch(request: Request): Promise<Response>;

  /**
   * Sets a payment's status and sends the callback (interface sections 3 and 6). Any status may
   * follow any other; setting the same one again is a change too. Settles when the first attempt
   * has ended, with any outcome; at once without a callbackUrl (`not-configured`) and with a
   * `reorder` fault (`held`).
   *
   * @throws {InvalidOptionError} when there is no such payment, or the status is blank
   * @throws {MockServerError} `SERVER_CLOSED` after `close()`
   */
  setStatus(referenceNumber: string, status: string): Promise<Delivery>;

  /**
   * Resends a callback as a new delivery. By a payment's referenceNumber: the callback of its current
   * status. By the id of a delivery or an attempt: the callback of the same change, so an older one
   * stays older.
   *
   * @throws {InvalidOptionError} when there is nothing with that id, or the fault is invalid
   * @throws {MockServerError} `SERVER_CLOSED` after `close()`
   */
  resend(id: string, options?: ResendOptions): Promise<Delivery>;

  /**
   * Calls `listener` with each event, at the moment it happens, until the function that is returned
   * is called or the service is closed. An error of the listener is an uncaught exception.
   *
   * @throws {InvalidOptionError} when `listener` is no function
   * @throws {MockServerError} `SERVER_CLOSED` after `close()`
   */
  subscribe(listener: MockListener): () => void;

  /**
   * The first attempt that matches and has ended, past or future.
   *
   * @throws {MockServerError} `WAIT_TIMEOUT` when there is none in time (the message holds the delivery
   * log) or the service is reset; `SERVER_CLOSED` when it is closed
   * @throws {InvalidOptionError} when `timeoutMs` is out of range, or a field or an option is invalid or unknown
   */
  waitForDelivery(match: DeliveryMatch, options?: WaitOptions): Promise<DeliveryAttempt>;

  /**
   * The first request that matches, past or future. It has arrived in full; it may not be answered
   * yet, so a test can go on while a fault holds the answer.
   *
   * @throws {MockServerError} `WAIT_TIMEOUT` when there is none in time or the service is reset;
   * `SERVER_CLOSED` when it is closed
   * @throws {InvalidOptionError} when `timeoutMs` is out of range, or a field or an option is invalid or unknown
   */
  waitForRequest(match: RequestMatch, options?: WaitOptions): Promise<RecordedRequest>;

  /**
   * As if just started: forgets payments, requests, deliveries and faults, cancels retries, cuts off
   * the requests that a fault holds. Where a `seed` was given the identifiers start again: an application
   * that keeps its database then meets numbers that it knows. Settings stay, and so does a clock that was
   * advanced.
   */
  reset(): void;

  /** Ends everything that is under way and leaves no timer and no socket behind. May be called twice. */
  close(): Promise<void>;
  /** The same as {@link MockService.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}
