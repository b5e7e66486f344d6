import { MockServerError } from '../../errors.js';
import type { Cap } from './cap.js';

interface EventLogOptions<Event> {
  readonly cap: Cap;
  /** Roughly how many bytes an entry takes. Must stay the same while it is kept. */
  readonly sizeOf: (event: Event) => number;
  /** Called with an entry that is dropped to make room. */
  readonly onDrop?: (event: Event) => void;
}

const DESCRIBED_EVENTS = 100;

/** The newest events, oldest first, and the calls that wait for one. */
export class EventLog<Event> {
  readonly #options: EventLogOptions<Event>;
  readonly #waiters = new Set<Waiter<Event>>();
  readonly #events: Event[] = [];
  #bytes = 0;
  #generation = 0;

  constructor(options: EventLogOptions<Event>) {
    this.#options = options;
  }

  /** Live. */
  get events(): readonly Event[] {
    return this.#events;
  }

  /** Changes with each `clear`. */
  get generation(): number {
    return this.#generation;
  }

  push(event: Event): void {
    const { cap, sizeOf, onDrop } = this.#options;
    this.#events.push(event);
    this.#bytes += sizeOf(event);
    while (cap.isExceededBy(this.#events.length, this.#bytes)) {
      const oldest = this.#events.shift();
      if (oldest === undefined) break;
      this.#bytes -= sizeOf(oldest);
      onDrop?.(oldest);
      cap.countDrop();
    }
    for (const waiter of this.#waiters) {
      if (waiter.matches(event)) waiter.resolve(event);
    }
  }

  /** Resolves with the oldest event that matches, or the next one. */
  async wait({ matches, timeoutMs, describeTimeout }: Wait<Event>): Promise<Event> {
    const past = this.#events.find(matches);
    if (past !== undefined) return past;
    return new Promise((resolve, reject) => {
      const end = () => {
        clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter<Event> = {
        matches,
        resolve(event) {
          end();
          resolve(event);
        },
        reject(reason) {
          end();
          reject(reason);
        },
      };
      // Real time: a test that waits in vain must end, even with a manual clock.
      const timer = setTimeout(
        () => waiter.reject(new MockServerError('WAIT_TIMEOUT', describeTimeout())),
        timeoutMs,
      );
      this.#waiters.add(waiter);
    });
  }

  /** The last events, one line each, for a message. */
  describe(what: string, describeOne: (event: Event) => string): string[] {
    const all = this.#events;
    if (all.length === 0) return [`There are no ${what}`];
    const shown = all.slice(-DESCRIBED_EVENTS);
    const heading =
      shown.length < all.length
        ? `The last ${shown.length} of ${all.length} ${what}:`
        : `The ${what}:`;
    const lines = [heading, ...shown.map((event) => `  ${describeOne(event)}`)];
    const { dropped } = this.#options.cap;
    if (dropped > 0) lines.push(`${dropped} older ${what} were dropped at the service's limit`);
    return lines;
  }

  /** Forgets all events. Calls that wait reject with `reason`. */
  clear(reason: MockServerError): void {
    this.#events.length = 0;
    this.#bytes = 0;
    this.#options.cap.reset();
    this.#generation += 1;
    for (const waiter of this.#waiters) waiter.reject(reason);
  }
}

interface Wait<Event> {
  readonly matches: (event: Event) => boolean;
  readonly timeoutMs: number;
  /** Called at the timeout, so that the message says what had happened by then. */
  readonly describeTimeout: () => string;
}

interface Waiter<Event> {
  matches(event: Event): boolean;
  resolve(event: Event): void;
  reject(reason: Error): void;
}

/** Whether every given field is equal. */
export function isMatching(match: object, facts: object): boolean {
  const known = new Map<string, unknown>(Object.entries(facts));
  return Object.entries(match).every(
    ([field, wanted]) => wanted === undefined || wanted === known.get(field),
  );
}

/** The fields of a match, in words. */
export function describeMatch(match: object): string {
  const wanted = Object.entries(match).filter(([, value]) => value !== undefined);
  if (wanted.length === 0) return 'any fields';
  return wanted.map(([field, value]) => `${field} ${String(value)}`).join(', ');
}
