import { MockServerError } from '../../errors.js';

interface EventLogOptions<Event> {
  /** Entries kept. */
  readonly limit: number;
  /** Bytes kept, of the contents of entries; the newest entry is kept in any case. */
  readonly limitBytes: number;
  /** About how many bytes an entry takes. Must not change as long as it is kept. */
  readonly sizeOf: (event: Event) => number;
  /** Called with an entry that makes room. */
  readonly onDrop?: (event: Event) => void;
  /** How entries take less memory until the log is read. */
  readonly packing?: Packing<Event>;
}

interface Packing<Event> {
  /** Whether an entry no longer changes. */
  readonly isFinal: (event: Event) => boolean;
  /** Returns what restores them. */
  readonly pack: (events: readonly Event[]) => () => Event[];
}

/** Old entries, packed, the first of which may have been dropped. */
interface Pack<Event> {
  readonly restore: () => Event[];
  readonly sizes: readonly number[];
  dropped: number;
}

/** Of 10,000 objects that live for long the collector takes a fifth of the time of their requests. */
const PACKED_AT_ONCE = 50;

/** What happened, oldest first, and the calls that wait for something to happen. */
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

  /** Live: grows as things happen. */
  get events(): readonly Event[] {
    this.#isRead = true;
    if (this.#packs.length > 0) {
      const packed = this.#packs.flatMap(({ restore, dropped }) => restore().slice(dropped));
      this.#events.unshift(...packed);
      this.#packs = [];
    }
    return this.#events;
  }

  /** Another number after each `clear`. */
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
      // Real time, whatever the service's clock: a test that waits in vain has to end.
      const timer = setTimeout(
        () => waiter.reject(new MockServerError('WAIT_TIMEOUT', describeTimeout())),
        timeoutMs,
      );
      this.#waiters.add(waiter);
    });
  }

  /** Forgets what happened; calls that wait reject with `reason`. */
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
  /** Called when the time is over, so that the message says what had happened by then. */
  readonly describeTimeout: () => string;
}

interface Waiter<Event> {
  matches(event: Event): boolean;
  resolve(event: Event): void;
  reject(reason: Error): void;
}

/** Lines of a log in a message. */
const DESCRIBED_EVENTS = 100;

/** Whether every field that is given is equal. */
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

/** The end of a log, one line per event, for a message. */
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
