import { StoreError } from '../errors.js';
import { NOTHING_SEEN, type SeenFailures } from './attempt.js';
import type { ChangeId, FailedChange } from './failed-changes.js';

const PAGE_SIZE = 100;

/** A row of the table of failures. It is read as text or JSON, because drivers differ in how they return other types. */
export interface StoredFailure {
  readonly reference: string;
  readonly storedKey: string;
  /** Both names as JSON, if the stored form of one of them differs from it. */
  readonly fullNames: string | null;
  readonly occurredAtUs: string | number;
  readonly attempts: number;
  /** An ISO 8601 text, or epoch milliseconds. */
  readonly firstFailedAt: string | number;
  readonly lastFailedAt: string | number;
  readonly parked: boolean | number;
  /** The {@link FailureText} as JSON. */
  readonly error: string;
  /** In hex. */
  readonly rawBody: string | null;
}

export function toFailedChange(row: StoredFailure): FailedChange {
  const names = row.fullNames === null ? [row.reference, row.storedKey] : parseJson(row.fullNames);
  const [paymentReference, key] = names as [string, string];
  return {
    key,
    paymentReference,
    occurredAt: new Date(Math.floor(Number(row.occurredAtUs) / 1000)),
    attempts: row.attempts,
    firstFailedAt: new Date(row.firstFailedAt),
    lastFailedAt: new Date(row.lastFailedAt),
    parked: Boolean(row.parked),
    error: parseJson(row.error) as FailedChange['error'],
    ...(row.rawBody === null ? {} : { rawBody: new Uint8Array(Buffer.from(row.rawBody, 'hex')) }),
  };
}

/**
 * Lists failed changes page by page: rows may change in between.
 *
 * @param readPage resolves with at most `size` rows after `last`, ordered by their first failure
 */
export async function* listInPages<Row extends StoredFailure>(
  limit = Number.POSITIVE_INFINITY,
  readPage: (size: number, last: Row | undefined) => Promise<readonly Row[]>,
): AsyncGenerator<FailedChange> {
  let last: Row | undefined;
  for (let left = limit; left > 0; ) {
    const size = Math.min(left, PAGE_SIZE);
    const rows = await readPage(size, last);
    for (const row of rows) yield toFailedChange(row);
    if (rows.length < size) return;
    left -= rows.length;
    last = rows.at(-1);
  }
}

/** The full names to store beside the stored forms; null if they are the same. */
export function toFullNames(
  stored: { readonly reference: string; readonly key: string },
  names: ChangeId,
): string | null {
  if (stored.reference === names.paymentReference && stored.key === names.key) return null;
  return JSON.stringify([names.paymentReference, names.key]);
}

/** Parses the words of a claim: `failed` or `parked` for the change itself, `blocked` for each earlier parked one. */
export function parseSeen(words: string): SeenFailures {
  if (words === '') return NOTHING_SEEN;
  const all = words.split(' ');
  const own = (['parked', 'failed'] as const).find((word) => all.includes(word));
  return { own, behindParked: all.includes('blocked') };
}

/** @throws {StoreError} `STORE_FAILED` when it is not JSON */
export function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    // The parser's own message quotes the text.
    throw new StoreError(
      'STORE_FAILED',
      'The table of failures holds a text that this package did not write; find out what else writes to the table',
    );
  }
}
