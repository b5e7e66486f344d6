// Money and time in the format of the reader's browser.

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Unit = 'millisecond' | 'second' | 'minute' | 'hour' | 'day';

const unitFormats = new Map<string, Intl.NumberFormat>();

function writeUnit(value: number, unit: Unit, unitDisplay: 'short' | 'narrow' = 'short'): string {
  const key = `${unit} ${unitDisplay}`;
  let format = unitFormats.get(key);
  if (format === undefined) {
    format = new Intl.NumberFormat(undefined, { style: 'unit', unit, unitDisplay });
    unitFormats.set(key, format);
  }
  return format.format(value);
}

/** A length of time in its two largest units: `42 sec`, `3 min 5 sec`, `2 hr 10 min`, `4 days 3 hr`. */
export function writeDuration(ms: number): string {
  // Rounded up, so that a countdown ends at 1 s instead of showing 0 s for a second.
  const seconds = Math.ceil(ms / SECOND) * SECOND;
  if (seconds < MINUTE) return writeUnit(seconds / SECOND, 'second');
  if (seconds < HOUR) return join(seconds, [MINUTE, 'minute'], [SECOND, 'second']);
  if (seconds < DAY) return join(seconds, [HOUR, 'hour'], [MINUTE, 'minute']);
  return join(seconds, [DAY, 'day'], [HOUR, 'hour']);
}

type Step = readonly [ms: number, unit: Unit];

function join(ms: number, [large, largeUnit]: Step, [small, smallUnit]: Step): string {
  const text = writeUnit(Math.floor(ms / large), largeUnit);
  const rest = Math.floor((ms % large) / small);
  return rest === 0 ? text : `${text} ${writeUnit(rest, smallUnit)}`;
}

/** How long ago: `now`, `42s`, `3m`, `2h`, `4d`. */
export function writeAge(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at);
  if (ms < SECOND) return 'now';
  if (ms < MINUTE) return writeUnit(Math.floor(ms / SECOND), 'second', 'narrow');
  if (ms < HOUR) return writeUnit(Math.floor(ms / MINUTE), 'minute', 'narrow');
  if (ms < DAY) return writeUnit(Math.floor(ms / HOUR), 'hour', 'narrow');
  return writeUnit(Math.floor(ms / DAY), 'day', 'narrow');
}

/** How long an attempt took. */
export function writeLatency(ms: number): string {
  if (ms < 1) return `< ${writeUnit(1, 'millisecond')}`;
  return ms < SECOND
    ? writeUnit(Math.round(ms), 'millisecond')
    : writeUnit(Math.round(ms / 10) / 100, 'second');
}

const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const dateTimeFormat = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
});

/** In the reader's time zone: `Jan 31, 2026, 14:03:22`. */
export function writeDateTime(at: number | string): string {
  return dateTimeFormat.format(new Date(at));
}

/** As {@link writeDateTime}, without the day. */
export function writeTime(at: number | string): string {
  return timeFormat.format(new Date(at));
}

/** As {@link writeDateTime}, without the day if it is that of `nowMs`. */
export function writeTimeNear(at: string, nowMs: number): string {
  const isToday = new Date(at).toDateString() === new Date(nowMs).toDateString();
  return isToday ? writeTime(at) : writeDateTime(at);
}

const moneyFormats = new Map<string, Intl.NumberFormat>();
const MAX_MONEY_FORMATS = 50;

/**
 * An amount with its currency: `EUR 2,500.00`. Nothing is rounded to the currency's precision, as the
 * interface does not define the unit of an amount.
 */
export function writeMoney(amount: number, currency: string): string {
  try {
    let format = moneyFormats.get(currency);
    if (format === undefined) {
      format = new Intl.NumberFormat(undefined, {
        style: 'currency',
        currency,
        currencyDisplay: 'code',
        maximumFractionDigits: 20,
      });
      if (moneyFormats.size >= MAX_MONEY_FORMATS) moneyFormats.clear();
      moneyFormats.set(currency, format);
    }
    return format.format(amount);
  } catch {
    return `${amount} ${currency}`;
  }
}

/** `12,034` */
export const writeCount = (count: number): string => count.toLocaleString();
