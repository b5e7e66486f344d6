import type { Dispatcher } from 'undici';
import type { Deadline } from '../deadline.js';
import type { KeptSocket } from './kept-socket.js';

/** Sends one request at a time. */
export interface Connection {
  /** Opens the connection when a request needs it, and opens it again after it was closed. */
  readonly dispatcher: Dispatcher;
  /** Missing if only the dispatcher knows which one a request has. */
  readonly socket?: KeptSocket;
}

interface ConnectionQueueOptions {
  /** How many connections there may be. */
  readonly limit: number;
  /** How many requests may wait for one. */
  readonly maxWaiting: number;
  readonly create: () => Connection;
}

/**
 * Lends each connection to one request at a time; first in, first out. undici's own queue opens a connection
 * for each request that was cancelled in it, and dispatches in the async context of another call.
 */
export class ConnectionQueue {
  readonly #limit: number;
  readonly #maxWaiting: number;
  readonly #create: () => Connection;
  #created = 0;
  // Last in, first out, so that connections not needed in a quiet time stay idle and are closed.
  readonly #free: Connection[] = [];
  // A set keeps the order, and lets a request leave from the middle at no cost.
  readonly #waiting = new Set<(connection: Connection) => void>();
  // Kept, since a new iterator would step over everything that left before.
  #order = this.#waiting.values();

  constructor({ limit, maxWaiting, create }: ConnectionQueueOptions) {
    this.#limit = limit;
    this.#maxWaiting = maxWaiting;
    this.#create = create;
  }

  get isFull(): boolean {
    return this.#waiting.size >= this.#maxWaiting;
  }

  /** Lends a connection if one is free or may be created. */
  tryBorrow(): Connection | undefined {
    const free = this.#free.pop();
    if (free !== undefined || this.#created >= this.#limit) return free;
    this.#created += 1;
    return this.#create();
  }

  /** Waits for a connection. Resolves to undefined when the call is cancelled first. */
  borrow(deadline: Deadline): Promise<Connection | undefined> {
    return new Promise((resolve) => {
      const take = (connection: Connection): void => {
        deadline.onGiveUp = undefined;
        resolve(connection);
      };
      this.#waiting.add(take);
      deadline.onGiveUp = () => {
        this.#waiting.delete(take);
        resolve(undefined);
      };
    });
  }

  /** Lends the connection to the request that has waited longest, or keeps it. */
  giveBack(connection: Connection): void {
    let next = this.#order.next();
    if (next.done) {
      this.#order = this.#waiting.values();
      next = this.#order.next();
    }
    if (next.done) {
      this.#free.push(connection);
      return;
    }
    this.#waiting.delete(next.value);
    next.value(connection);
  }
}
