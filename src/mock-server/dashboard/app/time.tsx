import { useCallback, useEffect, useState } from 'preact/hooks';
import { writeTimeNear } from './format.js';

interface Reading {
  readonly nowMs: number;
  /** On this page's monotonic clock. */
  readonly takenAtMs: number;
}

/** Readings closer together than this do not show whether the clock runs. */
const MIN_GAP_MS = 400;
const TOLERANCE_MS = 250;

/** Estimates the service's time between two readings. A manual clock stands still, any other runs. */
class ServiceClock {
  #reading: Reading | undefined;
  #runs = true;
  readonly #listeners = new Set<() => void>();

  constructor() {
    window.setInterval(() => this.#tick(), 1_000);
  }

  /** In epoch milliseconds. */
  now(): number {
    if (this.#reading === undefined) return Date.now();
    const { nowMs, takenAtMs } = this.#reading;
    return this.#runs ? nowMs + performance.now() - takenAtMs : nowMs;
  }

  /** `false` for a clock that moves only when it is advanced. */
  get runs(): boolean {
    return this.#runs;
  }

  /** Records the time that the service reports. */
  read(now: string): void {
    const reading = { nowMs: Date.parse(now), takenAtMs: performance.now() };
    if (this.#reading !== undefined) this.#learn(this.#reading, reading);
    this.#reading = reading;
    this.#tick();
  }

  onTick(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  // The control interface does not report the kind of clock. A manual clock may have been advanced
  // between the two readings, so movement alone does not show that the clock runs.
  #learn(before: Reading, after: Reading): void {
    const elapsedMs = after.takenAtMs - before.takenAtMs;
    const movedMs = after.nowMs - before.nowMs;
    if (elapsedMs < MIN_GAP_MS) return;
    if (movedMs === 0) this.#runs = false;
    else if (Math.abs(movedMs - elapsedMs) < TOLERANCE_MS) this.#runs = true;
  }

  #tick(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const serviceClock = new ServiceClock();

/** Returns a text that depends on the service's time, updated each second. */
export function useClockText(write: (nowMs: number) => string): string {
  const [, setText] = useState('');
  useEffect(() => serviceClock.onTick(() => setText(write(serviceClock.now()))), [write]);
  return write(serviceClock.now());
}

interface TimeProps {
  /** As the service wrote it; shown in the title. */
  readonly at: string;
  /** Writes the text, again with each second of the service's clock. */
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
