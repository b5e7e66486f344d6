import { MockServerError } from '../../errors.js';

interface EventLogOptions<Event> {
  /** Entries kept. */
  readonly limit: number;
  /** Bytes of content kept. The newest entry is always kept. */
  readonly limitBytes: number;
  /** Roughly how many bytes an entry takes. Must stay the same while it is kept. */
  readonly sizeOf: (event: Event) => number;
  /** Called with an entry that is dropped to make room; not with one that was packed. */
  readonly onDrop?: (event: Event) => void;
  /** Saves memory and collections until the log is read. */
  readonly packing?: Packing<Event>;
}

interface Packing<Event> {
  /** Whether an entry no longer changes. */
  readonly isFinal: (event: Event) => boolean;
  /** Returns what restores them. */
  readonly pack: (events: readonly Event[]) => () => Event[];
}

/** Old entries, packed. */
interface Pack<Event> {
  readonly restore: () => Event[];
  readonly sizes: readonly number[];
  dropped: number;
}

/** Garbage-collecting 10,000 long-lived objects takes a fifth of the CPU time of the requests they record. */
const PACKED_AT_ONCE = 50;

/** Events, oldest first, and the calls that wait for one. */
export class EventLog<Event> {
  readonly #options: EventLogOptions<Event>;
  readonly #waiters = new Set<Waiter<Event>>();
  readonly #events: Event[] = [];
  /** Those before `#events`. */
  #packs: Pack<Event>[] = [];
  #size = 0;
  #bytes = 0;
  #generation = 0;
  #isRead = false;

  constructor(options: EventLogOptions<Event>) {
    this.#options = options;
  }

  /** Live. */
  get events(): readonly Event[] {
    this.#isRead = true;
    if (this.#packs.length > 0) {
      const packed = this.#packs.flatMap(({ restore, dropped }) => restore().slice(dropped));
      this.#events.unshift(...packed);
      this.#packs = [];
    }
    return this.#events;
  }

  /** Changes with each `clear`. */
  get generation(): number {
    return this.#generation;
  }

  push(event: Event): void {
    const { limit, limitBytes, sizeOf } = this.#options;
    this.#events.push(event);
    this.#size += 1;
    this.#bytes += sizeOf(event);
    while (this.#size > limit || (this.#bytes > limitBytes && this.#size > 1)) this.#drop();
    if (this.#events.length >= 2 * PACKED_AT_ONCE) this.#packOldest();
    for (const waiter of this.#waiters) {
      if (waiter.matches(event)) waiter.resolve(event);
    }
  }

  #packOldest(): void {
    const { packing, sizeOf } = this.#options;
    if (packing === undefined || this.#isRead) return;
    const oldest = this.#events.slice(0, PACKED_AT_ONCE);
    if (!oldest.every(packing.isFinal)) return;
    this.#events.splice(0, PACKED_AT_ONCE);
    this.#packs.push({ restore: packing.pack(oldest), sizes: oldest.map(sizeOf), dropped: 0 });
  }

  #drop(): void {
    this.#size -= 1;
    const [pack] = this.#packs;
    if (pack === undefined) {
      const oldest = this.#events.shift();
      if (oldest === undefined) return;
      this.#bytes -= this.#options.sizeOf(oldest);
      this.#options.onDrop?.(oldest);
      return;
    }
    this.#bytes -= pack.sizes[pack.dropped] ?? 0;
    pack.dropped += 1;
    if (pack.dropped === pack.sizes.length) this.#packs.shift();
  }

  /** Resolves with the oldest event that matches, or the next one. */
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
      // Real time: a test that waits in vain must end, even with a manual clock.
      const timer = setTimeout(
        () => waiter.reject(new MockServerError('WAIT_TIMEOUT', describeTimeout())),
        timeoutMs,
      );
      this.#waiters.add(waiter);
    });
  }

  /** Forgets all events. Calls that wait reject with `reason`. */
  clear(reason: MockServerError): void {
    this.#events.length = 0;
    this.#packs = [];
    this.#size = 0;
    this.#bytes = 0;
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

const DESCRIBED_EVENTS = 100;

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

/** The last events of a log, one line each, for a message. */
export function describeEvents<Event>(
  what: string,
  events: readonly Event[],
  describe: (event: Event) => string,
): string[] {
  if (events.length === 0) return [`There are no ${what}`];
  const shown = events.slice(-DESCRIBED_EVENTS);
  const left = events.length - shown.length;
  const heading =
    left > 0 ? `The last ${shown.length} of ${events.length} ${what}:` : `The ${what}:`;
  return [heading, ...shown.map((event) => `  ${describe(event)}`)];
}
