import type { Deadline } from '../deadline.js';

interface RequestQueueOptions {
  /** How many requests may be out at a time. */
  readonly limit: number;
  /** How many may wait for a place. */
  readonly maxWaiting: number;
}

/**
 * Holds requests back when as many are out as there are connections; first in, first out. undici's
 * own queue opens a connection for each request that was cancelled in it, and dispatches in the async
 * context of another call.
 */
export class RequestQueue {
  readonly #limit: number;
  readonly #maxWaiting: number;
  #out = 0;
  // A set keeps the order, and a request leaves it from the middle at no cost.
  readonly #waiting = new Set<() => void>();
  // Kept, since a new iterator would pass over everything that has left before.
  #order = this.#waiting.values();

  constructor({ limit, maxWaiting }: RequestQueueOptions) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
  }

  get isFull(): boolean {
    return this.#waiting.size >= this.#maxWaiting;
  }

  /** Takes a place if there is one. */
  tryEnter(): boolean {
    if (this.#out >= this.#limit) return false;
    this.#out += 1;
    return true;
  }

  /** Waits for a place. Resolves to false, without one, when the call is cancelled first. */
  enter(deadline: Deadline): Promise<boolean> {
    return new Promise((resolve) => {
      const takePlace = (): void => {
        deadline.onGiveUp = undefined;
        resolve(true);
      };
      this.#waiting.add(takePlace);
      deadline.onGiveUp = () => {
        this.#waiting.delete(takePlace);
        resolve(false);
      };
    });
  }

  /** Gives the place to the request that has waited longest. */
  leave(): void {
    let next = this.#order.next();
    if (next.done) {
      this.#order = this.#waiting.values();
      next = this.#order.next();
    }
    if (next.done) {
      this.#out -= 1;
      return;
    }
    this.#waiting.delete(next.value);
    next.value();
  }
}
