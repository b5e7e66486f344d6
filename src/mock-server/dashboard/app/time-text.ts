const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** A length of time in its two largest units: `42 s`, `3 min 5 s`, `2 h 10 min`, `4 d 3 h`. */
export function writeDuration(ms: number): string {
  // Rounded up, so that a countdown ends at 1 s, not with a second of 0 s.
  const seconds = Math.ceil(ms / SECOND) * SECOND;
  if (seconds < MINUTE) return `${seconds / SECOND} s`;
  if (seconds < HOUR) return join(seconds, MINUTE, 'min', SECOND, 's');
  if (seconds < DAY) return join(seconds, HOUR, 'h', MINUTE, 'min');
  return join(seconds, DAY, 'd', HOUR, 'h');
}

function join(ms: number, large: number, largeName: string, small: number, smallName: string) {
  const rest = Math.floor((ms % large) / small);
  return `${Math.floor(ms / large)} ${largeName}${rest === 0 ? '' : ` ${rest} ${smallName}`}`;
}

/** How long ago: `now`, `42 s`, `3 min`, `2 h`, `4 d`. */
export function writeAge(at: string, nowMs: number): string {
  const ms = nowMs - Date.parse(at);
  if (ms < SECOND) return 'now';
  if (ms < MINUTE) return `${Math.floor(ms / SECOND)} s`;
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`;
  if (ms < DAY) return `${Math.floor(ms / HOUR)} h`;
  return `${Math.floor(ms / DAY)} d`;
}

/** How long an attempt took. */
export function writeLatency(ms: number): string {
  if (ms < 1) return '< 1 ms';
  return ms < SECOND ? `${Math.round(ms)} ms` : `${(ms / SECOND).toFixed(2)} s`;
}

/** A time on the reader's own clock: `2026-01-31 14:03:22`. */
export function writeDateTime(at: number | string): string {
  // Sweden writes dates as ISO 8601 does.
  return new Date(at).toLocaleString('sv-SE');
}

/** As {@link writeDateTime}, without the day. */
export function writeTime(at: number | string): string {
  return writeDateTime(at).slice(11);
}

/** As {@link writeDateTime}, without the day when it is that of `nowMs`. */
export function writeTimeNear(at: string, nowMs: number): string {
  const text = writeDateTime(at);
  return writeDateTime(nowMs).slice(0, 10) === text.slice(0, 10) ? text.slice(11) : text;
}
