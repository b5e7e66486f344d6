import { trimEnd } from './trim-end.js';

/**
 * Where seconds end and milliseconds begin. A number from here on, in seconds, would lie beyond the year
 * 5138, so it is in milliseconds. A smaller one, in milliseconds, would lie before March 1973, so it is in
 * seconds.
 */
export const SECONDS_END = 100_000_000_000;

/** The last instant that a Date can represent, in epoch milliseconds. */
export const LATEST_DATE_MS = 8_640_000_000_000_000;

const DATE_TIME =
  /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d)(?::(\d\d)(?:[.,](\d+))?)?(?:Z|([+-])(\d\d)(?::?(\d\d))?)$/i;

/** An instant. A store compares it to the microsecond. */
export interface Instant {
  /** To the millisecond. */
  readonly occurredAt: Date;
  /** Whole microseconds after `occurredAt`, from 0 to 999. */
  readonly microseconds: number;
  /** Further digits of the fraction, without trailing zeros; usually empty. */
  readonly finer: string;
}

// The usual spelling, which Date.parse reads correctly in a tenth of the time.
const PLAIN = /^\d{4}-\d\d-\d\dT\d\d:\d\d:[0-5]\d(?:\.\d{3})?(?:Z|[+-]\d\d:\d\d)$/;

const UTC =
  /^[2-9]\d{3}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d{3})?(?:Z|\+00:00)$/;

/**
 * Reads the simplest spellings, in UTC and from the year 2000 on, in a third of the time of Date.parse.
 *
 * @returns milliseconds since 1970; undefined for any other text
 */
export function readUtc(text: string): number | undefined {
  if (!UTC.test(text)) return undefined;
  if (!hasRealDay(text)) return undefined;
  return Date.UTC(
    twoDigits(text, 0) * 100 + twoDigits(text, 2),
    twoDigits(text, 5) - 1,
    twoDigits(text, 8),
    twoDigits(text, 11),
    twoDigits(text, 14),
    twoDigits(text, 17),
    text[19] === '.' ? Number(text.slice(20, 23)) : 0,
  );
}

/** Whether the month of a date-time has its day: JavaScript reads the 30th of February as the 2nd of March. */
export function hasRealDay(text: string): boolean {
  const day = twoDigits(text, 8);
  if (day <= 28) return true;
  // Calendars repeat after 400 years, and Date.UTC would move the years 0 to 99 to the 1900s.
  const year = 2000 + (Number(text.slice(0, 4)) % 400);
  return day <= new Date(Date.UTC(year, twoDigits(text, 5), 0)).getUTCDate();
}

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - 48) * 10 + text.charCodeAt(at + 1) - 48;
}

/**
 * Reads `updatedAt` (interface section 2.2). Date.parse is not enough: it knows neither every spelling of
 * ISO 8601 (a comma before the fraction, `+05`, a leap second) nor microseconds.
 *
 * @param text a date-time that the record's own check has accepted
 */
export function parseInstant(text: string): Instant {
  const epochMs = readUtc(text);
  if (epochMs !== undefined) return { occurredAt: new Date(epochMs), microseconds: 0, finer: '' };
  if (PLAIN.test(text)) return { occurredAt: new Date(text), microseconds: 0, finer: '' };
  const [, year, month, day, hour, minute, second = '0', fraction = '', sign, ...offset] =
    DATE_TIME.exec(text) ?? [];
  const [offsetHours = '0', offsetMinutes = '0'] = offset;
  const micros = Number(fraction.slice(0, 6).padEnd(6, '0'));
  const offsetMinutesTotal =
    (Number(offsetHours) * 60 + Number(offsetMinutes)) * (sign === '-' ? -1 : 1);
  const date = new Date(0);
  // Unlike Date.UTC, this does not move the years 0 to 99 to the 1900s.
  date.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  date.setUTCHours(
    Number(hour),
    Number(minute) - offsetMinutesTotal,
    Number(second),
    Math.floor(micros / 1000),
  );
  return {
    occurredAt: date,
    microseconds: micros % 1000,
    finer: trimEnd(fraction.slice(6), '0'),
  };
}
