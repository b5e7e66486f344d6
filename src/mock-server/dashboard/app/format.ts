// Times in the reader's time zone and format.

const SECOND = 1_000;
const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: SECOND },
] as const;

/** A length of time in its two largest units: `42 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`. */
export function writeDuration(ms: number): string {
  // Rounded up, so that a countdown ends at 1 s instead of showing 0 s for a second.
  let left = Math.ceil(ms / SECOND) * SECOND;
  const first = Math.max(
    0,
    units.findIndex((unit) => left >= unit.ms),
  );
  const parts = units.slice(first, first + 2).map((unit) => {
    const count = Math.floor(left / unit.ms);
    left -= count * unit.ms;
    return count === 0 ? '' : `${count} ${unit.name}`;
  });
  return parts.join(' ').trim();
}

/** How long ago: `now`, `42s`, `3m`, `2h`, `4d`. */
export function writeAge(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at);
  const unit = units.find((each) => ms >= each.ms);
  return unit === undefined ? 'now' : `${Math.floor(ms / unit.ms)}${unit.name.charAt(0)}`;
}

/** How long an attempt took. */
export function writeLatency(ms: number): string {
  if (ms < 1) return '< 1 ms';
  return ms < SECOND ? `${Math.round(ms)} ms` : `${Math.round(ms / 10) / 100} s`;
}

const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const dateTimeFormat = new Intl.DateTimeFormat(undefined, {
  dateStyle: 'medium',
  timeStyle: 'medium',
  hourCycle: 'h23',
});

/** `Jan 31, 2026, 14:03:22` */
export const writeDateTime = (at: number | string): string => dateTimeFormat.format(new Date(at));

/** `14:03:22` */
export const writeTime = (at: number | string): string => timeFormat.format(new Date(at));

/** The time, with the day if it is not that of `nowMs`. */
export function writeTimeNear(at: string, nowMs: number): string {
  const isToday = new Date(at).toDateString() === new Date(nowMs).toDateString();
  return isToday ? writeTime(at) : writeDateTime(at);
}

/** `12,034` */
export const writeCount = (count: number): string => count.toLocaleString();
