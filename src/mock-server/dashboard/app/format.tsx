import { useCallback, useEffect, useState } from 'preact/hooks';

// Times in the reader's time zone and format, by the service's clock.

const listeners = new Set<() => void>();
let reading = { nowMs: Date.now(), takenAtMs: performance.now(), runs: true };

function tick(): void {
  for (const listener of listeners) listener();
}

window.setInterval(tick, 1_000);

/** Records the service's time. Its clock may stand still. */
export function readServiceClock(now: string, runs: boolean): void {
  reading = { nowMs: Date.parse(now), takenAtMs: performance.now(), runs };
  tick();
}

/** The service's time in epoch milliseconds, estimated from the last reading. */
export function serviceNow(): number {
  const { nowMs, takenAtMs, runs } = reading;
  return runs ? nowMs + performance.now() - takenAtMs : nowMs;
}

/** Returns a text that depends on the service's time, updated each second. */
export function useClockText(write: (nowMs: number) => string): string {
  const [, setText] = useState('');
  useEffect(() => {
    const update = () => setText(write(serviceNow()));
    listeners.add(update);
    return () => void listeners.delete(update);
  }, [write]);
  return write(serviceNow());
}

interface TimeProps {
  /** As the service wrote it; shown in the title. */
  readonly at: string;
  readonly write?: (at: string, nowMs: number) => string;
}

/** A time of the service's clock. */
export function Time({ at, write = writeTimeNear }: TimeProps) {
  const text = useClockText(useCallback((nowMs) => write(at, nowMs), [at, write]));
  return (
    <time dateTime={at} title={at}>
      {text}
    </time>
  );
}

const units = [
  { name: 'd', ms: 86_400_000 },
  { name: 'h', ms: 3_600_000 },
  { name: 'min', ms: 60_000 },
  { name: 's', ms: 1_000 },
] as const;

/** A length of time in its two largest units: `42 s`, `3 min 5 s`, `2 h 10 min`. */
export function writeDuration(ms: number): string {
  // Rounded up, so that a countdown ends at 1 s instead of showing 0 s for a second.
  let left = Math.ceil(ms / 1_000) * 1_000;
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

/** `in 42 s`, or `due` */
export function writeCountdown(at: string, nowMs: number): string {
  const leftMs = Date.parse(at) - nowMs;
  return leftMs > 0 ? `in ${writeDuration(leftMs)}` : 'due';
}

const timeFormat = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium', hourCycle: 'h23' });
const dateFormat = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric' });

/** `14:03:22` */
export const writeTime = (at: number | string): string => timeFormat.format(new Date(at));

/** The time, with the day if it is not that of `nowMs`. */
export function writeTimeNear(at: number | string, nowMs: number): string {
  const isToday = new Date(at).toDateString() === new Date(nowMs).toDateString();
  return isToday ? writeTime(at) : `${dateFormat.format(new Date(at))} ${writeTime(at)}`;
}
