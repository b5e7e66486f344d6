import { InboxError } from '../errors.js';
import { NOTHING_SEEN, type SeenFailures } from './attempt.js';
import type { ChangeId, FailedChange } from './failed-changes.js';

/** How many failures a database gives at a time. */
export const FAILURES_PAGE_SIZE = 100;

/** A failed change as a database gives it, as JSON: drivers differ in the types of the rest. */
export interface StoredFailure {
  readonly reference: string;
  readonly storedKey: string;
  /** Both names as JSON, where another text is stored for one of them. */
  readonly fullNames: string | null;
  readonly occurredAtUs: string | number;
  readonly attempts: number;
  /** As a text, or in epoch milliseconds. */
  readonly firstFailedAt: string | number;
  readonly lastFailedAt: string | number;
  readonly parked: boolean | number;
  /** JSON of what is kept of the error. */
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

/** What is stored of the names besides the stored ones; null where those are the same. */
export function toFullNames(
  stored: { readonly reference: string; readonly key: string },
  names: ChangeId,
): string | null {
  if (stored.reference === names.paymentReference && stored.key === names.key) return null;
  return JSON.stringify([names.paymentReference, names.key]);
}

/** Reads `failed` or `parked` for the change itself, and `blocked` for each earlier one that is parked. */
export function parseSeen(words: string): SeenFailures {
  if (words === '') return NOTHING_SEEN;
  const all = words.split(' ');
  const own = (['parked', 'failed'] as const).find((word) => all.includes(word));
  return { own, behindParked: all.includes('blocked') };
}

/** @throws {InboxError} `STORE_FAILED` when it is not JSON */
export function parseJson(text: unknown): unknown {
  try {
    return JSON.parse(String(text));
  } catch {
    // The parser's own message quotes the text.
    throw new InboxError(
      'STORE_FAILED',
      'The table of failures holds a text that this version has not written; look for what else writes to it',
    );
  }
}
