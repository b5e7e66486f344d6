import { MockServerError } from '../../errors.js';
import {
  boolean,
  invalidOption,
  type OptionRules,
  optional,
  resolveOptions,
  text,
  timerMs,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';
import { timers } from '../../protocol/timers.js';

export const KEPT = 10_000;

export type CappedKind = 'payments' | 'requests' | 'deliveries' | 'callbacks';

/** The one rule for what is kept: the newest entries. The oldest make room, and are counted. */
export class Cap {
  readonly kind: CappedKind;
  readonly limit: number;
  readonly #onReached: (cap: Cap) => void;
  /** How many were dropped since the start or the last reset. */
  dropped = 0;

  constructor(kind: CappedKind, limit: number, onReached: (cap: Cap) => void) {
    this.kind = kind;
    this.limit = limit;
    this.#onReached = onReached;
  }

  countDrop(): void {
    this.dropped += 1;
    if (this.dropped === 1) this.#onReached(this);
  }

  /** For people. Formatting the first number of a process takes 10 ms. */
  get message(): string {
    return `The mock keeps ${this.limit.toLocaleString('en')} ${this.kind}, and drops the oldest; retries and automatic statuses still happen. Call reset() between tests, or start a mock for each.`;
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

  /** Returns the entry that made room. */
  add(id: string, entry: Entry): Entry | undefined {
    this.#entries.set(id, entry);
    if (this.#entries.size <= this.#cap.limit) return undefined;
    const [oldest] = this.#entries;
    if (oldest === undefined) return undefined;
    this.#entries.delete(oldest[0]);
    this.#cap.countDrop();
    return oldest[1];
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
export interface EntryKind<Entry> {
  /** `delivery`, and in the plural. */
  readonly name: string;
  readonly plural: string;
  readonly toFacts: (entry: Entry) => PaymentFacts;
  /** The fields that a wait may match. */
  readonly fields: Readonly<Record<string, keyof typeof fieldRules>>;
  readonly describe: (entry: Entry) => string;
}

interface PaymentFacts {
  readonly referenceNumber: string | undefined;
  readonly merchantPaymentReference: string | undefined;
}

/** How long to wait. */
export interface WaitOptions {
  /**
   * Milliseconds of real time, from 0 to 2147483647, not of the service's clock.
   * @default 5_000
   */
  timeoutMs?: number | undefined;
}

const fieldRules = {
  text: optional(text),
  number: optional(wholeNumber({ min: 1 })),
  boolean: optional(boolean),
};

const waitRules = {
  timeoutMs: withDefault(5_000, timerMs(0)),
} satisfies OptionRules<WaitOptions>;

/** Tells a payment, of the mock, the client or a store, from fields to match. */
const isPayment = (match: object | string): match is PaymentOrReference =>
  typeof match === 'string' ||
  ['createdAt', 'recordedAt'].some((field) => Object.hasOwn(Object(match), field));

const DESCRIBED_ENTRIES = 100;

/** The newest entries, oldest first, and the calls that wait for one. */
export class EventLog<Entry> {
  readonly #kind: EntryKind<Entry>;
  readonly #cap: Cap;
  readonly #describeMore: () => readonly string[];
  readonly #waiters = new Set<{
    readonly take: (entry: Entry) => void;
    readonly fail: (reason: Error) => void;
  }>();
  readonly #entries: Entry[] = [];
  /** Changes with each `clear`. */
  generation = 0;

  /** @param describeMore - further lines for the message of a wait in vain */
  constructor(kind: EntryKind<Entry>, cap: Cap, describeMore = (): readonly string[] => []) {
    this.#kind = kind;
    this.#cap = cap;
    this.#describeMore = describeMore;
  }

  /** Live. */
  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** Returns the entry that made room. */
  push(entry: Entry): Entry | undefined {
    this.#entries.push(entry);
    const isFull = this.#entries.length > this.#cap.limit;
    const dropped = isFull ? this.#entries.shift() : undefined;
    if (isFull) this.#cap.countDrop();
    this.update(entry);
    return dropped;
  }

  /** Offers an entry that has changed to those that wait. */
  update(entry: Entry): void {
    for (const waiter of this.#waiters) waiter.take(entry);
  }

  /** Returns the oldest entry that matches, or the next one. */
  async waitFor(match: object | string, options: WaitOptions = {}): Promise<Entry> {
    const { name, fields, toFacts } = this.#kind;
    const rules = Object.entries(fields).map(([field, kind]) => [field, fieldRules[kind]]);
    const payment = isPayment(match) ? toReference(match) : undefined;
    const wanted =
      payment === undefined
        ? resolveOptions(match, Object.fromEntries(rules), { owner: 'match' })
        : { payment };
    const { timeoutMs } = resolveOptions(options, waitRules);
    const matches = (entry: Entry): boolean => {
      const facts = toFacts(entry);
      if (payment === undefined) return isMatching(wanted, facts);
      return [facts.referenceNumber, facts.merchantPaymentReference].includes(payment);
    };
    const past = this.#entries.find(matches);
    if (past !== undefined) return past;
    return new Promise((resolve, reject) => {
      const end = (settle: () => void) => {
        timers.clearTimeout(timer);
        this.#waiters.delete(waiter);
        settle();
      };
      const waiter = {
        take: (entry: Entry) => matches(entry) && end(() => resolve(entry)),
        fail: (reason: Error) => end(() => reject(reason)),
      };
      // Real time: a test that waits in vain must end, even with a manual clock or fake timers.
      const timer = timers.setTimeout(() => {
        const found = `No ${name} with ${describeMatch(wanted)} within ${timeoutMs} ms (docs/errors.md#the-mock)`;
        const message = [found, ...this.#describe()].join('\n');
        waiter.fail(new MockServerError('WAIT_TIMEOUT', message));
      }, timeoutMs);
      this.#waiters.add(waiter);
    });
  }

  #describe(): string[] {
    const { plural, describe } = this.#kind;
    const all = this.#entries;
    const shown = all.slice(-DESCRIBED_ENTRIES).map((entry) => `  ${describe(entry)}`);
    const lines = all.length === 0 ? [`There are no ${plural}`] : [`The ${plural}:`, ...shown];
    if (shown.length < all.length) {
      lines[0] = `The last ${shown.length} of ${all.length} ${plural}:`;
    }
    const { dropped } = this.#cap;
    if (dropped > 0) lines.push(`${dropped} older ${plural} were dropped at the service's limit`);
    return [...lines, ...this.#describeMore()];
  }

  /** Forgets all entries. Calls that wait reject with `reason`. */
  clear(reason: MockServerError): void {
    this.#entries.length = 0;
    this.#cap.dropped = 0;
    this.generation += 1;
    for (const waiter of this.#waiters) waiter.fail(reason);
  }
}

export function isMatching(match: object, facts: object): boolean {
  const known = new Map<string, unknown>(Object.entries(facts));
  return Object.entries(match).every(
    ([field, wanted]) => wanted === undefined || wanted === known.get(field),
  );
}

function describeMatch(match: object): string {
  const wanted = Object.entries(match).filter(([, value]) => value !== undefined);
  if (wanted.length === 0) return 'any fields';
  return wanted.map(([field, value]) => `${field} ${String(value)}`).join(', ');
}

/**
 * A payment, by its referenceNumber, by its merchantPaymentReference if no other payment has the same, or as an object
 * with one of the two. The referenceNumber counts if there are both.
 */
export type PaymentOrReference =
  | string
  | {
      /** The service's reference. */
      readonly referenceNumber?: string | undefined;
      /** The merchant's own reference. */
      readonly merchantPaymentReference?: string | undefined;
    };

/** @throws {InvalidOptionError} for anything but text, or an object with a reference */
export function toReference(payment: PaymentOrReference): string {
  const reference =
    typeof payment === 'string'
      ? payment
      : (payment?.referenceNumber ?? payment?.merchantPaymentReference);
  if (typeof reference === 'string') return reference;
  throw invalidOption(
    'referenceNumber',
    'a referenceNumber, a merchantPaymentReference, or a payment with one of the two',
    payment,
  );
}
