import { useEffect, useState } from 'preact/hooks';

interface Reading {
  readonly nowMs: number;
  /** Of this page's monotonic clock. */
  readonly takenAtMs: number;
}

/** Shorter than this, two readings do not tell whether the clock runs. */
const TELLING_MS = 400;
const TOLERANCE_MS = 250;

/** The service's time between two readings of it. A manual clock stands still, any other runs. */
export class ServiceClock {
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

  /** Takes in what the service says its time is. */
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

  // The interface does not say which kind of clock it is. One that was advanced between the two
  // readings has moved as well, so moving alone does not make it one that runs.
  #learn(before: Reading, after: Reading): void {
    const elapsedMs = after.takenAtMs - before.takenAtMs;
    const movedMs = after.nowMs - before.nowMs;
    if (elapsedMs < TELLING_MS) return;
    if (movedMs === 0) this.#runs = false;
    else if (Math.abs(movedMs - elapsedMs) < TOLERANCE_MS) this.#runs = true;
  }

  #tick(): void {
    for (const listener of this.#listeners) listener();
  }
}

export const serviceClock = new ServiceClock();

/** A text that depends on the service's time, written anew each second. */
export function useClockText(write: (nowMs: number) => string): string {
  const [, setText] = useState('');
  useEffect(() => serviceClock.onTick(() => setText(write(serviceClock.now()))), [write]);
  return write(serviceClock.now());
}
