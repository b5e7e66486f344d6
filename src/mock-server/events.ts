import type { RecordedRequest } from './api/recorded-request.js';
import type { Delivery, DeliveryAttempt } from './callbacks/delivery.js';
import type { Fault } from './faults/fault.js';
import type { MockPayment } from './state/payments.js';

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
  #isEmitting = false;

  subscribe(listener: MockListener): () => void {
    // A new function, so that a listener that subscribes twice is called twice.
    const entry: MockListener = (event) => listener(event);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /**
   * Returns whether anything listens. An event caused by a listener waits until all listeners have the current
   * one, so all see one order.
   */
  emit(event: MockEvent): boolean {
    if (this.#listeners.size === 0) return false;
    this.#waiting.push(event);
    if (this.#isEmitting) return true;
    this.#isEmitting = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#call(next);
    }
    this.#isEmitting = false;
    return true;
  }

  #call(event: MockEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        // The listener's mistake must be visible, and must not affect the service.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  }

  clear(): void {
    this.#listeners.clear();
  }
}
