import type { Socket } from 'node:net';
import type { Dispatcher } from 'undici';
import { timers } from '../../protocol/timers.js';
import type { Deadline } from '../deadline.js';
import type { ResponseHeaders } from './transport.js';

export interface Connection {
  /** Opens the connection when a request needs it, and opens it again after it was closed. */
  readonly dispatcher: Dispatcher;
  readonly socket: KeptSocket;
}

/**
 * Lends each connection to one request at a time; first in, first out. undici's own queue opens a connection
 * for each request that was cancelled in it, and dispatches in the async context of another call.
 */
export class ConnectionQueue {
  readonly #limit: number;
  readonly #create: () => Connection;
  #created = 0;
  // Last in, first out, so that connections not needed in a quiet time stay idle and are closed.
  readonly #free: Connection[] = [];
  // A set keeps the order, and lets a request leave from the middle.
  readonly #waiting = new Set<(connection: Connection) => void>();

  constructor({ limit, create }: { readonly limit: number; readonly create: () => Connection }) {
    this.#limit = limit;
    this.#create = create;
  }

  /** Lends a connection, or waits for one. Resolves to undefined when the call is cancelled first. */
  borrow(deadline: Deadline): Connection | Promise<Connection | undefined> {
    const free = this.#free.pop();
    if (free !== undefined) return free;
    if (this.#created < this.#limit) {
      this.#created += 1;
      return this.#create();
    }
    return new Promise((resolve) => {
      const take = (connection: Connection | undefined): void => {
        this.#waiting.delete(take);
        deadline.onGiveUp = undefined;
        resolve(connection);
      };
      this.#waiting.add(take);
      deadline.onGiveUp = () => take(undefined);
    });
  }

  /** Lends the connection to the request that has waited longest, or keeps it. */
  giveBack(connection: Connection): void {
    const [next] = this.#waiting;
    if (next === undefined) this.#free.push(connection);
    else next(connection);
  }
}

/** How long a connection is kept if the server does not say. */
export const KEEP_ALIVE_MS = 4_000;

// What the server announces runs from an earlier moment, and the next request needs time to arrive.
const MARGIN_MS = 2_000;

/**
 * The socket of one undici client, which opens it when a request needs it, and again after it was closed. undici closes
 * idle sockets by a timer, which is late when the event loop was blocked, and counts nothing while the process or the
 * machine was suspended. The server has closed the connection by then, and a payment sent on it would be lost.
 */
export class KeptSocket {
  #socket: Socket | undefined;
  #keptMs = KEEP_ALIVE_MS;
  #restsSinceMs = 0;
  #restsSinceSystemMs = 0;

  /** Whether it has been idle for longer than the server keeps it, by whichever clock has counted more. */
  get isStale(): boolean {
    const idleMs = Math.max(
      timers.now() - this.#restsSinceMs,
      timers.systemNow() - this.#restsSinceSystemMs,
    );
    return idleMs >= this.#keptMs;
  }

  /** Called with the socket when it has connected. */
  opened(socket: Socket): void {
    this.#socket = socket;
    this.#keptMs = KEEP_ALIVE_MS;
    this.#rest();
  }

  /** Called when an answer has ended. */
  answered({ 'keep-alive': hint }: ResponseHeaders): void {
    this.#keptMs = parseKeepAlive(String(hint));
    this.#rest();
  }

  /** Breaks the connection. */
  cut(reason?: Error): void {
    this.#socket?.destroy(reason);
  }

  #rest(): void {
    this.#restsSinceMs = timers.now();
    this.#restsSinceSystemMs = timers.systemNow();
  }
}

/** How long a connection may be idle by a header such as `timeout=5, max=100`; 0 after the last request. */
function parseKeepAlive(hint: string): number {
  if (/\bmax\s*=\s*"?0+\b/i.test(hint)) return 0;
  const seconds = /\btimeout\s*=\s*"?(\d+)/i.exec(hint)?.[1];
  return seconds === undefined ? KEEP_ALIVE_MS : Math.max(0, Number(seconds) * 1000 - MARGIN_MS);
}
