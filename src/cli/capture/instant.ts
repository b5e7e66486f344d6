import { UsageError } from '../command.js';

const ISO_WITH_OFFSET = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)$/i;

/** From here on a number of seconds would lie beyond the year 5138, so it is one of milliseconds. */
const SECONDS_END = 100_000_000_000;

/**
 * Epoch milliseconds of Unix seconds, or of an ISO 8601 date-time with an offset.
 *
 * @throws {UsageError} for anything else, milliseconds among it
 */
export function parseInstant(name: string, text: string): number {
  if (/^\d{1,15}(?:\.\d{1,9})?$/.test(text)) {
    const seconds = Number(text);
    if (seconds < SECONDS_END) return seconds * 1000;
    throw new UsageError(`${name} looks like milliseconds: give Unix seconds`);
  }
  const ms = ISO_WITH_OFFSET.test(text) ? Date.parse(text) : Number.NaN;
  if (!Number.isNaN(ms)) return ms;
  throw new UsageError(
    `${name} must be Unix seconds, or a date-time with an offset such as 2026-01-31T12:00:00Z`,
  );
}
