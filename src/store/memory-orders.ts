import type { Cursor, Page } from './payment-row.js';
import type { OwnedRow } from './steps.js';

export type Row = { -readonly [Field in keyof OwnedRow]: OwnedRow[Field] };

/** A change that was processed. */
export interface ProcessedChange {
  readonly referenceNumber: string;
  readonly key: string;
  /** The rank of the newest change of the payment at that time. */
  readonly newest: string;
  readonly atMs: number;
}

/** All that is stored under a merchant's reference: an attempt at an order, and its processed changes. */
export interface Entry {
  readonly key: string;
  readonly row: Row;
  /** Of all its payments, the oldest first. */
  changes: readonly ProcessedChange[];
  /** Whether a change of the order is being processed, on its first entry. */
  isBusy: boolean;
  // Its neighbours in the order of their last changes.
  older: Entry | undefined;
  newer: Entry | undefined;
}

const NO_CHANGES: readonly ProcessedChange[] = [];

/**
 * The entries, by their keys and in the order of their last changes. Not a Map that each change moves an entry to the end
 * of: whoever looks for the oldest in it passes the places of all that were moved.
 */
export class Entries {
  readonly #byKey = new Map<string, Entry>();
  #oldest: Entry | undefined;
  #newest: Entry | undefined;

  get(key: string): Entry | undefined {
    return this.#byKey.get(key);
  }

  get size(): number {
    return this.#byKey.size;
  }

  get oldest(): Entry | undefined {
    return this.#oldest;
  }

  all(): IterableIterator<Entry> {
    return this.#byKey.values();
  }

  add(key: string, row: Row): Entry {
    const links = { older: undefined, newer: undefined };
    const entry: Entry = { key, row, changes: NO_CHANGES, isBusy: false, ...links };
    this.#byKey.set(key, entry);
    this.#append(entry);
    return entry;
  }

  /** Makes an entry the one that has changed last. */
  moveToEnd(entry: Entry): void {
    if (entry === this.#newest) return;
    this.#unlink(entry);
    this.#append(entry);
  }

  delete(entry: Entry): void {
    this.#byKey.delete(entry.key);
    this.#unlink(entry);
  }

  #append(entry: Entry): void {
    entry.older = this.#newest;
    if (this.#newest === undefined) this.#oldest = entry;
    else this.#newest.newer = entry;
    this.#newest = entry;
  }

  #unlink(entry: Entry): void {
    const { older, newer } = entry;
    if (older === undefined) this.#oldest = newer;
    else older.newer = newer;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    // A deleted one that is already old would keep the next ones in memory.
    entry.older = undefined;
    entry.newer = undefined;
  }
}

/** The entries of a page, ordered by their places. */
export function pageOf<Placed extends { readonly place: Cursor }>(
  all: readonly Placed[],
  { olderThanMs, after, limit }: Page,
  nowMs: number,
): readonly Placed[] {
  const untilMs = olderThanMs === 0 ? Number.POSITIVE_INFINITY : nowMs - olderThanMs;
  return all
    .filter(({ place }) => place.atMs <= untilMs && !(after && compare(place, after) <= 0))
    .sort((one, other) => compare(one.place, other.place))
    .slice(0, limit);
}

function compare(one: Cursor, other: Cursor): number {
  if (one.atMs !== other.atMs) return one.atMs - other.atMs;
  const at = one.names.findIndex((name, index) => name !== other.names[index]);
  if (at === -1) return 0;
  return (one.names[at] ?? '') < (other.names[at] ?? '') ? -1 : 1;
}
