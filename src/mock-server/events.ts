import type { RecordedRequest } from './api/recorded-request.js';
import type { Delivery, DeliveryAttempt } from './callbacks/delivery.js';
import type { Fault } from './faults/fault-types.js';
import type { MockPayment } from './payment.js';

/** Something that happened in a mock service. */
export type MockEvent =
  | {
      /** A payment was created, or changed its status. */
      readonly type: 'payment';
      /** As it is then. */
      readonly payment: MockPayment;
    }
  | {
      /** A request arrived; and again, with `ended`, when it was answered or its connection broke. */
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
      /** Live: it goes on as retries are made. */
      readonly delivery: Delivery;
    }
  | {
      /** Faults were added, used up or cleared. */
      readonly type: 'faults';
      /** Those that are left, oldest first. */
      readonly faults: readonly Fault[];
    }
  | {
      /**
       * `settings`: the callbackUrl was changed. `clock`: the clock was moved ahead through the
       * control interface. `reset`: everything was forgotten.
       */
      readonly type: 'settings' | 'clock' | 'reset';
    };

/** Called for each event, in order, when it happens. */
export type MockListener = (event: MockEvent) => void;

/** Those who want to know what happens. */
export class EventFeed {
  readonly #listeners = new Set<MockListener>();
  readonly #waiting: MockEvent[] = [];
  #isTelling = false;

  subscribe(listener: MockListener): () => void {
    // A function of its own, so that a listener subscribed twice is called twice.
    const entry: MockListener = (event) => listener(event);
    this.#listeners.add(entry);
    return () => void this.#listeners.delete(entry);
  }

  /** What a listener makes happen is told after what it was told of: all hear the same order. */
  emit(event: MockEvent): void {
    this.#waiting.push(event);
    if (this.#isTelling) return;
    this.#isTelling = true;
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      this.#tell(next);
    }
    this.#isTelling = false;
  }

  #tell(event: MockEvent): void {
    for (const listener of this.#listeners) {
      try {
        listener(event);
      } catch (error) {
        // The listener's mistake: it must be seen, and not change what the service does.
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
