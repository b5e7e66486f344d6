import type { Cursor, Page, SecondRow } from './payment-row.js';
import type { OwnedRow, StoredRecord } from './steps.js';

export type Row = { -readonly [Field in keyof OwnedRow]: OwnedRow[Field] };

/** All that is stored under a merchant's reference: an attempt at an order, and its processed changes. */
export interface Entry {
  readonly key: string;
  readonly row: Row;
  /** Of all its payments, the oldest first. */
  changes: readonly ProcessedChange[];
  /** Whether a change of the order is being processed, on its first entry. */
  isBusy: boolean;
}

/** A change that was processed. */
export interface ProcessedChange {
  readonly referenceNumber: string;
  readonly key: string;
  /** The rank of the newest change of the payment at that time. */
  readonly newest: string;
  readonly atMs: number;
}

/** A second payment. Its place has the names of the order and the payment. */
export type Second = Omit<SecondRow, 'listedAtMs'> & Pick<StoredRecord, 'updatedAtUs'>;

interface Placed {
  readonly place: Cursor;
}

/** The first item whose names begin with these. */
export function findNamed<Item extends Placed>(
  items: readonly Item[],
  ...names: readonly (string | undefined)[]
): Item | undefined {
  return items.find(({ place }) => names.every((name, index) => name === place.names[index]));
}

/**
 * Removes the item with these names if it is the same.
 *
 * @returns whether it has changed, and was kept
 */
export function removeIf<Item extends Placed>(
  items: Item[],
  names: readonly string[],
  isSame: (item: Item) => boolean,
): boolean {
  const item = findNamed(items, ...names);
  if (item === undefined || !isSame(item)) return item !== undefined;
  items.splice(items.indexOf(item), 1);
  return false;
}

/** The items of a page, ordered by their places. */
export function pageOf<Item extends Placed>(
  all: readonly Item[],
  { olderThanMs, after, limit }: Page,
  nowMs: number,
): readonly Item[] {
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
