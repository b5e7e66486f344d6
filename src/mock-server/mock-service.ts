import type { RecordedRequest, RequestMatch } from './api/recorded-request.js';
import type {
  Delivery,
  DeliveryAttempt,
  DeliveryMatch,
  ResendOptions,
} from './callbacks/delivery.js';
import type { Fault } from './faults/fault-catalogue.js';
import type { MockFaults } from './faults/fault-list.js';
import type { PaymentOrReference, WaitOptions } from './state/cap.js';
import type { MockPayment, MockPayments } from './state/payments.js';

/** The mock of the Merchant Payment Service, without a network: its state, its API as a function, its callbacks. */
export interface MockService {
  /** The API key that requests must present; `undefined` when any is accepted. */
  readonly apiKey: string | undefined;
  /** The API secret that requests must present; `undefined` when any is accepted. */
  readonly apiSecret: string | undefined;
  /** The secret callbacks are signed with. */
  readonly signingSecret: string;
  /** The seed of the identifiers. Pass it as `seed` to get the same ones again. */
  readonly seed: number;
  /**
   * Where callbacks are sent; `undefined` for nowhere. Set it when the endpoint starts later than the
   * service. Setting anything but an http or https URL throws `InvalidOptionError`.
   */
  callbackUrl: string | undefined;
  /** The payments. */
  readonly payments: MockPayments;
  /** The requests received, oldest first: the last 10,000. Live. */
  readonly requests: readonly RecordedRequest[];
  /** The ended attempts to deliver a callback, oldest first: the last 10,000. Live. */
  readonly deliveries: readonly DeliveryAttempt[];
  /** The pending faults. */
  readonly faults: MockFaults;

  /**
   * Answers a request as the service does (interface section 4.1): 401 `INVALID_CREDENTIALS`, or 201 with the status
   * record. The interface does not show the 201, nor 400 `INVALID_REQUEST`, 404, 405, 413 (over 1 MiB) and 415. A
   * network fault appears as with `fetch`: the promise rejects, or the body ends in an error, with a `TypeError`.
   */
  fetch(request: Request): Promise<Response>;

  /**
   * Sets a payment's status and sends the callback (interface sections 3 and 6). Any status may follow any other,
   * also the same. Settles when the first attempt has ended, with any outcome; at once without a callbackUrl
   * (`not-configured`) and with a `reorder` fault (`held`).
   *
   * @throws {InvalidOptionError} when there is no such payment, or the status is blank
   * @throws {MockServerError} `SERVER_CLOSED` after `close()`
   */
  setStatus(payment: PaymentOrReference, status: string): Promise<Delivery>;

  /**
   * Pays a payment as a customer does: sets its status to `paid` and sends the callback.
   *
   * @throws as {@link MockService.setStatus}
   */
  pay(payment: PaymentOrReference): Promise<Delivery>;

  /**
   * Resends a callback as a new delivery: for a payment the callback of its current status, for the id of a
   * delivery or an attempt the callback of that change, with its `updatedAt`.
   *
   * @throws {InvalidOptionError} when nothing has that id, or the fault is invalid
   * @throws {MockServerError} `SERVER_CLOSED` after `close()`
   */
  resend(id: PaymentOrReference, options?: ResendOptions): Promise<Delivery>;

  /**
   * Calls `listener` with each event as it happens, until you call the returned function or the service
   * is closed. What the listener throws becomes an uncaught exception.
   *
   * @throws {InvalidOptionError} when `listener` is not a function
   * @throws {MockServerError} `SERVER_CLOSED` after `close()`
   */
  subscribe(listener: MockListener): () => void;

  /**
   * Waits for an ended attempt that matches, or for one of a payment. Past attempts count: the oldest that matches is returned.
   *
   * @throws {MockServerError} `WAIT_TIMEOUT` when none ends in time (the message shows the delivery log)
   * or the service is reset; `SERVER_CLOSED` when it is closed
   * @throws {InvalidOptionError} when `timeoutMs` is out of range, or a field or an option is invalid or unknown
   */
  waitForDelivery(
    match: DeliveryMatch | PaymentOrReference,
    options?: WaitOptions,
  ): Promise<DeliveryAttempt>;

  /**
   * Waits for a request as {@link MockService.waitForDelivery} does for an attempt. It has arrived in full but may
   * not be answered yet, so a test can continue while a fault holds the answer.
   *
   * @throws as {@link MockService.waitForDelivery}
   */
  waitForRequest(
    match: RequestMatch | PaymentOrReference,
    options?: WaitOptions,
  ): Promise<RecordedRequest>;

  /**
   * Returns to the state at the start: forgets payments, requests, deliveries and faults, cancels
   * retries, and breaks the connections that a fault holds open. Keeps settings and the clock's time.
   * With a `seed` the identifiers start again, so an application that keeps its database gets numbers
   * that it has seen before.
   */
  reset(): void;

  /** Ends everything under way and leaves no timer and no socket behind. May be called twice. */
  close(): Promise<void>;
  /** The same as {@link MockService.close}, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/** Something that happened in a mock service. */
export type MockEvent =
  | {
      /** A payment was created, or changed its status. */
      readonly type: 'payment';
      /** As it was at that moment. */
      readonly payment: MockPayment;
    }
  | {
      /** A request arrived. Emitted again, with `ended`, when it was answered or its connection broke. */
      readonly type: 'request';
      /** As it was received. */
      readonly request: RecordedRequest;
    }
  | {
      /** An attempt to deliver a callback ended. */
      readonly type: 'attempt';
      /** As it was sent, with how it ended. */
      readonly attempt: DeliveryAttempt;
    }
  | {
      /** A delivery changed its state. */
      readonly type: 'delivery';
      /** Live: changes as retries are made. */
      readonly delivery: Delivery;
    }
  | {
      /** Faults were added, used up or cleared. */
      readonly type: 'faults';
      /** The pending faults, oldest first. */
      readonly faults: readonly Fault[];
    }
  | {
      /** The service reached a limit and drops the oldest of a kind. Once for each kind, until a reset. */
      readonly type: 'limit';
      /** `deliveries`: the attempts. `callbacks`: the deliveries. */
      readonly kind: 'payments' | 'requests' | 'deliveries' | 'callbacks';
      /** The limit, and what to do. */
      readonly message: string;
    }
  | {
      /**
       * `settings`: the callbackUrl was changed. `clock`: the clock was advanced through the control
       * interface. `reset`: the service was reset.
       */
      readonly type: 'settings' | 'clock' | 'reset';
    };

/** Called with each event as it happens, in order. */
export type MockListener = (event: MockEvent) => void;

export class EventFeed {
  readonly #listeners = new Set<MockListener>();
  readonly #waiting: MockEvent[] = [];

  subscribe(listener: MockListener): () => void {
    // A new function, so that a listener that subscribes twice is called twice.
    const entry: MockListener = (event) => {
      try {
        listener(event);
      } catch (error) {
        // The listener's mistake must be visible, and must not affect the service.
        queueMicrotask(() => {
          throw error;
        });
      }
    };
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** What a listener causes waits until all have heard the current event. */
  emit(event: MockEvent): void {
    if (this.#listeners.size === 0 || this.#waiting.push(event) > 1) return;
    for (let next: MockEvent | undefined = event; next !== undefined; next = this.#waiting[0]) {
      for (const listener of this.#listeners) listener(next);
      this.#waiting.shift();
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
