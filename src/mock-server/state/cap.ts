/** What a mock service keeps up to a limit, by the names of the control interface. */
const cappedKinds = ['payments', 'requests', 'deliveries', 'callbacks'] as const;
export type CappedKind = (typeof cappedKinds)[number];

export interface Limits {
  /** Entries of each kind. */
  readonly entries: number;
  /** Bytes of content, of requests and of delivery attempts. The newest entry is always kept. */
  readonly bytes: number;
  /** Bytes of an answer of the control interface, roughly. */
  readonly answerBytes: number;
}

export const defaultLimits: Limits = {
  entries: 10_000,
  bytes: 67_108_864,
  answerBytes: 16_777_216,
};

export type Caps = Readonly<Record<CappedKind, Cap>>;

/** @param onReached - called when the first of a kind is dropped, with a message for people */
export function createCaps(
  limits: Limits,
  onReached: (kind: CappedKind, message: string) => void,
): Caps {
  const createCap = (kind: CappedKind) =>
    new Cap(limits, () => onReached(kind, describeLimit(kind, limits)));
  return Object.fromEntries(cappedKinds.map((kind) => [kind, createCap(kind)])) as Caps;
}

const NAMES: Readonly<Record<CappedKind, string>> = {
  payments: 'payments',
  requests: 'requests',
  deliveries: 'delivery attempts',
  callbacks: 'callbacks',
};

function describeLimit(kind: CappedKind, { entries, bytes }: Limits): string {
  const isWeighed = kind === 'requests' || kind === 'deliveries';
  const size = isWeighed ? ` or ${Math.round(bytes / 1_048_576)} MiB` : '';
  return `The mock service keeps ${entries.toLocaleString('en')} ${NAMES[kind]}${size}, and now drops the oldest. Retries and automatic statuses still happen. Call reset() between tests, or start a service for each.`;
}

/** The one rule for what is kept: the newest entries. The oldest make room, and are counted. */
export class Cap {
  readonly #limits: Limits;
  readonly #onReached: () => void;
  #dropped = 0;

  constructor(limits: Limits, onReached: () => void) {
    this.#limits = limits;
    this.#onReached = onReached;
  }

  /** How many were dropped since the start or the last reset. */
  get dropped(): number {
    return this.#dropped;
  }

  isExceededBy(entries: number, bytes = 0): boolean {
    return entries > this.#limits.entries || (bytes > this.#limits.bytes && entries > 1);
  }

  countDrop(): void {
    this.#dropped += 1;
    if (this.#dropped === 1) this.#onReached();
  }

  reset(): void {
    this.#dropped = 0;
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

  add(id: string, entry: Entry): void {
    this.#entries.set(id, entry);
    for (const oldest of this.#entries.keys()) {
      if (!this.#cap.isExceededBy(this.#entries.size)) return;
      this.#entries.delete(oldest);
      this.#cap.countDrop();
    }
  }

  /** Replaces an entry, which keeps its place. Does nothing when it was dropped. */
  replace(id: string, entry: Entry): void {
    if (this.#entries.has(id)) this.#entries.set(id, entry);
  }

  clear(): void {
    this.#entries.clear();
    this.#cap.reset();
  }
}
