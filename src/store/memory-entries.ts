import type { Cursor, Page } from './payment-row.js';

/** The entries of a page, ordered by their places. */
export function pageOf<Entry extends { readonly place: Cursor }>(
  all: readonly Entry[],
  { olderThanMs, after, limit }: Page,
  nowMs: number,
): readonly Entry[] {
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

/** Unique, whatever characters the names contain. */
export function nameOf(...names: readonly (string | undefined)[]): string {
  return JSON.stringify(names);
}

/** Returns whether the entry has changed, and was kept. */
export function forgetIf<Entry>(
  entries: Map<string, Entry>,
  name: string,
  isSame: (entry: Entry) => boolean,
): boolean {
  const entry = entries.get(name);
  if (entry === undefined || !isSame(entry)) return entry !== undefined;
  entries.delete(name);
  return false;
}
