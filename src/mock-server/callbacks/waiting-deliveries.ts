import type { MockTimer } from '../state/clock.js';
import type { PastPayment } from '../state/payments.js';
import type { CallbackEdit, DeliveryAttempt, DeliveryState, EditableDelivery } from './delivery.js';

/** A delivery while it changes, with what its next attempts need. */
export interface LiveDelivery extends EditableDelivery {
  readonly url: string;
  attempts: readonly DeliveryAttempt[];
  state: DeliveryState;
  /** When the first attempt was signed, in epoch milliseconds, if retries repeat its signature. */
  firstSignedAtMs?: number;
}

/**
 * A delivery that waits for a retry and is no longer among the recent ones. When the retry is due, the
 * delivery is restored, or taken from the weak reference if it is still in use. 100,000 may be waiting, so
 * this is one small object.
 */
export class ParkedDelivery extends WeakRef<LiveDelivery> implements PastPayment {
  readonly place: number;
  readonly status: string;
  readonly atMs: number;
  readonly url: string;
  readonly edit: CallbackEdit | undefined;
  readonly firstSignedAtMs: number | undefined;
  readonly retry: MockTimer | undefined;

  constructor(
    delivery: LiveDelivery,
    { place, status, atMs }: PastPayment,
    retry: MockTimer | undefined,
  ) {
    super(delivery);
    this.retry = retry;
    this.place = place;
    this.status = status;
    this.atMs = atMs;
    this.url = delivery.url;
    this.edit = delivery.edit;
    this.firstSignedAtMs = delivery.firstSignedAtMs;
  }
}

export function isParked(delivery: LiveDelivery | ParkedDelivery): delivery is ParkedDelivery {
  return delivery instanceof ParkedDelivery;
}

/**
 * The deliveries that wait for attempts of one number. They have the same delay, so they fall due in the order
 * in which they were added, and one function serves all timers.
 */
export class RetryQueue {
  #ids: string[] = [];
  #start = 0;
  /** Runs the delivery that has waited longest. */
  readonly runFirst: () => unknown;

  constructor(run: (id: string) => unknown) {
    this.runFirst = () => {
      const id = this.#take();
      return id === undefined ? undefined : run(id);
    };
  }

  add(id: string): void {
    this.#ids.push(id);
  }

  #take(): string | undefined {
    const id = this.#ids[this.#start];
    this.#start += 1;
    // shift() would move all of them each time.
    if (2 * this.#start > this.#ids.length) {
      this.#ids = this.#ids.slice(this.#start);
      this.#start = 0;
    }
    return id;
  }
}
