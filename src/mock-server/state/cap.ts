import { MockServerError } from '../../errors.js';
import {
  type OptionRules,
  type Rule,
  resolveOptions,
  timerMs,
  withDefault,
} from '../../protocol/options.js';
import { timers } from '../../protocol/timers.js';
import { type PaymentOrReference, toReference } from './payment-reference.js';

/** How many of each kind a mock service keeps. */
export const KEPT = 10_000;

/** What is kept up to the limit, by the names of the control interface, and what people call it. */
const cappedKinds = {
  payments: 'payments',
  requests: 'requests',
  deliveries: 'delivery attempts',
  callbacks: 'callbacks',
} as const;
export type CappedKind = keyof typeof cappedKinds;
export type Caps = Readonly<Record<CappedKind, Cap>>;

/** @param onReached - called when the first of a kind is dropped, with a message for people */
export function createCaps(
  limit: number,
  onReached: (kind: CappedKind, message: string) => void,
): Caps {
  const caps = Object.entries(cappedKinds).map(([kind, name]) => {
    // Written when it is needed: formatting the first number of a process takes 10 ms.
    const describe = () =>
      `The mock service keeps ${limit.toLocaleString('en')} ${name}, and now drops the oldest. Retries and automatic statuses still happen. Call reset() between tests, or start a service for each.`;
    return [kind, new Cap(limit, () => onReached(kind as CappedKind, describe()))];
  });
  return Object.fromEntries(caps) as Caps;
}

/** The one rule for what is kept: the newest entries. The oldest make room, and are counted. */
export class Cap {
  readonly limit: number;
  readonly #onReached: () => void;
  /** How many were dropped since the start or the last reset. */
  dropped = 0;

  constructor(limit: number, onReached: () => void) {
    this.limit = limit;
    this.#onReached = onReached;
  }

  countDrop(): void {
    this.dropped += 1;
    if (this.dropped === 1) this.#onReached();
  }
}

/** The newest entries, by identifier, oldest first. */
export class NewestEntries<Entry> {
  readonly #entries = new Map<string, Entry>();
  readonly #cap: Cap;

  constructor(cap: Cap) {
    this.#cap = cap;
  }

  get size(): number {
    return this.#entries.size;
  }

  get(id: string): Entry | undefined {
    return this.#entries.get(id);
  }

  list(): Entry[] {
    return [...this.#entries.values()];
  }

  /** @param onDrop - called with an entry that makes room */
  add(id: string, entry: Entry, onDrop?: (dropped: Entry) => void): void {
    this.#entries.set(id, entry);
    const [oldest] = this.#entries;
    if (oldest === undefined || this.#entries.size <= this.#cap.limit) return;
    this.#entries.delete(oldest[0]);
    this.#cap.countDrop();
    onDrop?.(oldest[1]);
  }

  /** Replaces an entry, which keeps its place. Does nothing when it was dropped. */
  replace(id: string, entry: Entry): void {
    if (this.#entries.has(id)) this.#entries.set(id, entry);
  }

  clear(): void {
    this.#entries.clear();
    this.#cap.dropped = 0;
  }
}

/** What a log needs to know of its entries. */
export interface EntryKind<Event> {
  /** `delivery`, and in the plural. */
  readonly name: string;
  readonly plural: string;
  /** What waits match. */
  readonly toFacts: (event: Event) => PaymentFacts;
  /** The rules of the fields that a wait may match. */
  readonly rules: Readonly<Record<string, Rule<unknown>>>;
  /** One line. */
  readonly describe: (event: Event) => string;
}

interface PaymentFacts {
  readonly referenceNumber: string | undefined;
  readonly merchantPaymentReference: string | undefined;
}

interface EventLogOptions<Event> extends EntryKind<Event> {
  readonly cap: Cap;
  /** Called with an entry that is dropped to make room. */
  readonly onDrop?: (event: Event) => void;
  /** Further lines for the message of a wait in vain. */
  readonly describeMore?: () => readonly string[];
}

/** How long to wait. */
export interface WaitOptions {
  /**
   * Milliseconds of real time, from 0 to 2147483647, not of the service's clock.
   * @default 5_000
   */
  timeoutMs?: number | undefined;
}

const waitRules = {
  timeoutMs: withDefault(5_000, timerMs(0)),
} satisfies OptionRules<WaitOptions>;

/** Tells a payment, of the mock, the client or a store, from fields to match. */
const isPayment = (match: object | string): match is PaymentOrReference =>
  typeof match === 'string' ||
  ['createdAt', 'recordedAt'].some((field) => Object.hasOwn(Object(match), field));

const DESCRIBED_EVENTS = 100;

/** The newest events, oldest first, and the calls that wait for one. */
export class EventLog<Event> {
  readonly #options: EventLogOptions<Event>;
  readonly #waiters = new Set<Waiter<Event>>();
  readonly #events: Event[] = [];
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
    const { cap, onDrop } = this.#options;
    this.#events.push(event);
    if (this.#events.length > cap.limit) {
      const oldest = this.#events.shift();
      if (oldest !== undefined) onDrop?.(oldest);
      cap.countDrop();
    }
    this.update(event);
  }

  /** Offers an event that has changed to those that wait. */
  update(event: Event): void {
    for (const waiter of this.#waiters) waiter.take(event);
  }

  /**
   * Returns the oldest event that matches, or the next one.
   *
   * @throws {InvalidOptionError} when a field or an option is invalid
   * @throws {MockServerError} `WAIT_TIMEOUT` when none comes in time
   */
  async waitFor(match: object | string, options: WaitOptions = {}): Promise<Event> {
    const { name, rules, toFacts } = this.#options;
    const payment = isPayment(match) ? toReference(match) : undefined;
    const wanted =
      payment === undefined ? resolveOptions(match, rules, { owner: 'match' }) : { payment };
    const { timeoutMs } = resolveOptions(options, waitRules);
    const matches = (event: Event): boolean => {
      const facts = toFacts(event);
      if (payment === undefined) return isMatching(wanted, facts);
      return [facts.referenceNumber, facts.merchantPaymentReference].includes(payment);
    };
    const past = this.#events.find(matches);
    if (past !== undefined) return past;
    return new Promise((resolve, reject) => {
      const end = () => {
        timers.clearTimeout(timer);
        this.#waiters.delete(waiter);
      };
      const waiter: Waiter<Event> = {
        take(event) {
          if (!matches(event)) return;
          end();
          resolve(event);
        },
        fail(reason) {
          end();
          reject(reason);
        },
      };
      // Real time: a test that waits in vain must end, even with a manual clock or fake timers.
      const timer = timers.setTimeout(() => {
        const found = `No ${name} with ${describeMatch(wanted)} within ${timeoutMs} ms`;
        const message = [found, ...this.#describe()].join('\n');
        waiter.fail(new MockServerError('WAIT_TIMEOUT', message));
      }, timeoutMs);
      this.#waiters.add(waiter);
    });
  }

  /** The last events, one line each. */
  #describe(): string[] {
    const { plural, describe, cap, describeMore } = this.#options;
    const more = describeMore?.() ?? [];
    const all = this.#events;
    if (all.length === 0) return [`There are no ${plural}`, ...more];
    const shown = all.slice(-DESCRIBED_EVENTS);
    const heading =
      shown.length < all.length
        ? `The last ${shown.length} of ${all.length} ${plural}:`
        : `The ${plural}:`;
    const lines = [heading, ...shown.map((event) => `  ${describe(event)}`)];
    const { dropped } = cap;
    if (dropped > 0) lines.push(`${dropped} older ${plural} were dropped at the service's limit`);
    return [...lines, ...more];
  }

  /** Forgets all events. Calls that wait reject with `reason`. */
  clear(reason: MockServerError): void {
    this.#events.length = 0;
    this.#options.cap.dropped = 0;
    this.#generation += 1;
    for (const waiter of this.#waiters) waiter.fail(reason);
  }
}

interface Waiter<Event> {
  readonly take: (event: Event) => void;
  readonly fail: (reason: Error) => void;
}

/** Whether every given field is equal. */
export function isMatching(match: object, facts: object): boolean {
  const known = new Map<string, unknown>(Object.entries(facts));
  return Object.entries(match).every(
    ([field, wanted]) => wanted === undefined || wanted === known.get(field),
  );
}

/** The fields of a match, in words. */
function describeMatch(match: object): string {
  const wanted = Object.entries(match).filter(([, value]) => value !== undefined);
  if (wanted.length === 0) return 'any fields';
  return wanted.map(([field, value]) => `${field} ${String(value)}`).join(', ');
}
