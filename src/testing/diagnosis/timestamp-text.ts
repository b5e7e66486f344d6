import type { TimestampUnit } from '../../callback/timestamp.js';

/** What the text of X-Timestamp means when it is read by its looks. */
export interface Instant {
  readonly epochMs: number;
  readonly writtenAs: TimestampUnit | 'iso-date';
}

// The same limit as the verifier's: in seconds the year 5138, in milliseconds March 1973.
const SECONDS_END = 100_000_000_000;

const DATE = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:[.,]\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/i;

/** Nothing for what is neither a Unix timestamp nor an ISO 8601 date-time. */
export function readInstant(text: string): Instant | undefined {
  if (/^\d{1,15}$/.test(text)) {
    const value = Number(text);
    return value < SECONDS_END
      ? { epochMs: value * 1000, writtenAs: 'seconds' }
      : { epochMs: value, writtenAs: 'milliseconds' };
  }
  const epochMs = DATE.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(epochMs) ? undefined : { epochMs, writtenAs: 'iso-date' };
}
