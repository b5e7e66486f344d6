/** What happened, oldest first, and those who wait for something to happen. */
export class EventLog<Event> {
  /** Live: grows as things happen. */
  readonly events: Event[] = [];
  readonly #limit: number;
  readonly #waiters = new Set<Waiter<Event>>();

  constructor(limit: number) {
    this.#limit = limit;
  }

  push(event: Event): void {
    this.events.push(event);
    if (this.events.length > this.#limit) this.events.shift();
    for (const waiter of this.#waiters) {
      if (waiter.matches(event)) waiter.resolve(event);
    }
  }

  /** The first event that matches, past or future. */
  async wait({ matches, timeoutMs, describeTimeout }: Wait<Event>): Promise<Event> {
    const past = this.events.find(matches);
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
      // Real time, whatever the service's clock: a test that waits for what never comes has to end.
      const timer = setTimeout(() => waiter.reject(new Error(describeTimeout())), timeoutMs);
      this.#waiters.add(waiter);
    });
  }

  /** Forgets what happened; whoever waits gets `reason`. */
  clear(reason: string): void {
    this.events.length = 0;
    for (const waiter of this.#waiters) waiter.reject(new Error(reason));
  }
}

interface Wait<Event> {
  readonly matches: (event: Event) => boolean;
  readonly timeoutMs: number;
  /** Called when the time is over, so that the message tells what had happened by then. */
  readonly describeTimeout: () => string;
}

interface Waiter<Event> {
  matches(event: Event): boolean;
  resolve(event: Event): void;
  reject(reason: Error): void;
}
