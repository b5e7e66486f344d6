import type { MockTimer } from '../state/clock.js';
import type { PastPayment } from '../state/payments.js';
import type { CallbackEdit, DeliveryAttempt, DeliveryState, EditableDelivery } from './delivery.js';

/** A delivery under construction, and what its next attempts need to know. */
export interface LiveDelivery extends EditableDelivery {
  readonly url: string;
  attempts: readonly DeliveryAttempt[];
  state: DeliveryState;
  /** The time that every attempt is signed with, in epoch milliseconds, where it is that of the first. */
  firstSignedAtMs?: number;
}

/**
 * A delivery that waits for a retry and is no longer among the recent ones. The object is made again
 * when the retry is due, unless somebody still has it. 100,000 may be waiting, so this is one small
 * object, the reference included.
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

/**
 * Which deliveries wait for attempts of one number. They have the same delay, so they fall due in the order in
 * which they began to wait, and one function runs them all.
 */
export class RetryQueue {
  #ids: string[] = [];
  /** Where the first is. */
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
    // A shift() each time would move them all.
    if (2 * this.#start > this.#ids.length) {
      this.#ids = this.#ids.slice(this.#start);
      this.#start = 0;
    }
    return id;
  }
}
