import { useCallback, useEffect, useState } from 'preact/hooks';
import { writeTimeNear } from './format.js';

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
