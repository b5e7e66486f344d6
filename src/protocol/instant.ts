import { trimEnd } from './plain-text.js';

/**
 * Where seconds end and milliseconds begin. A number from here on, in seconds, would lie beyond the year
 * 5138, so it is in milliseconds. A smaller one, in milliseconds, would lie before March 1973, so it is in
 * seconds.
 */
export const SECONDS_END = 100_000_000_000;

/** The last instant that a Date can represent, in epoch milliseconds. */
export const LATEST_DATE_MS = 8_640_000_000_000_000;

// Lenient in the spelling (fraction, comma, leap second, `Z`, `+02`, `+0200`), but an offset is required: without it
// the order of two changes would be a guess.
const DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?(?:Z|[+-](?:0\d|1\d|2[0-3])(?::?[0-5]\d)?)$/i;

/** Whether it is written as a date-time; its month may still lack the day. */
export const hasDateTimeForm = (text: string): boolean => DATE_TIME.test(text);

/** Whether the month of a date-time has its day: JavaScript reads the 30th of February as the 2nd of March. */
export function hasRealDay(text: string): boolean {
  const day = twoDigits(text, 8);
  return (
    day <= 28 || day <= new Date(Date.UTC(shiftedYear(text), twoDigits(text, 5), 0)).getUTCDate()
  );
}

/** An instant. A store compares it to the microsecond. */
export interface Instant {
  /** To the millisecond. */
  readonly occurredAt: Date;
  /** Whole microseconds after `occurredAt`, from 0 to 999. */
  readonly microseconds: number;
  /** Further digits of the fraction, without trailing zeros; usually empty. */
  readonly finer: string;
}

/**
 * Reads a date-time that {@link hasDateTimeForm} accepts, such as `updatedAt` (interface section 2.2), from its fixed
 * places. Date.parse knows neither every spelling of ISO 8601 nor microseconds, and takes three times as long.
 */
export function parseInstant(text: string): Instant {
  const hasSeconds = text[16] === ':';
  let end = hasSeconds ? 19 : 16;
  let fraction = '';
  if (hasSeconds && (text[19] === '.' || text[19] === ',')) {
    end = 20;
    while (isDigit(text.charCodeAt(end))) end += 1;
    fraction = text.slice(20, end);
  }
  const wholeMs =
    Date.UTC(
      shiftedYear(text),
      twoDigits(text, 5) - 1,
      twoDigits(text, 8),
      twoDigits(text, 11),
      twoDigits(text, 14) - offsetMinutes(text, end),
      hasSeconds ? twoDigits(text, 17) : 0,
    ) - SHIFT_MS;
  if (fraction === '') return { occurredAt: new Date(wholeMs), microseconds: 0, finer: '' };
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
  return {
    occurredAt: new Date(wholeMs + Math.floor(micros / 1000)),
    microseconds: micros % 1000,
    finer: trimEnd(fraction.slice(6), '0'),
  };
}

// Calendars repeat after 400 years. Without the shift, Date.UTC would move the years 0 to 99 to the 1900s.
const SHIFT_MS = 146_097 * 86_400_000;
const shiftedYear = (text: string): number => twoDigits(text, 0) * 100 + twoDigits(text, 2) + 400;

/** @param at the place after the time */
function offsetMinutes(text: string, at: number): number {
  const sign = text[at] === '+' ? 1 : text[at] === '-' ? -1 : 0;
  if (sign === 0) return 0;
  const minutes = text.length > at + 3 ? twoDigits(text, text.length - 2) : 0;
  return sign * (twoDigits(text, at + 1) * 60 + minutes);
}

const isDigit = (code: number): boolean => code >= 48 && code <= 57;

const twoDigits = (text: string, at: number): number =>
  (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
