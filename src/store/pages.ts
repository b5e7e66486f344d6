import type { Cursor, Page } from './payment-row.js';

export const PAGE_SIZE = 100;

export type ReadPage<Entry> = (page: Omit<Page, 'olderThanMs'>) => Promise<readonly Entry[]>;

/** Reads a list page by page, up to a number of entries. */
export async function* pagesOf<Entry extends { readonly place: Cursor }>(
  read: ReadPage<Entry>,
  limit = Number.POSITIVE_INFINITY,
): AsyncGenerator<readonly Entry[]> {
  let after: Cursor | undefined;
  for (let left = limit; left > 0; ) {
    const size = Math.min(PAGE_SIZE, left);
    const page = await read({ after, limit: size });
    yield page;
    if (page.length < size) return;
    left -= page.length;
    after = page.at(-1)?.place;
  }
}
