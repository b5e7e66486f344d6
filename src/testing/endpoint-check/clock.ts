import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

/** Time, as the checks see it. The tests have a clock that passes without waiting. */
export interface CheckClock {
  /** The time of day, in Unix milliseconds. */
  now(): number;
  /** Milliseconds since a moment that stays the same; never set back. */
  elapsedMs(): number;
  /** Rejects when the signal aborts. */
  pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
  /** Calls `run` once, later. Returns a function that cancels it. */
  startTimer(run: () => void, milliseconds: number): () => void;
}

export const systemClock: CheckClock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  pause: (milliseconds, signal) =>
    sleep(milliseconds, undefined, signal === undefined ? {} : { signal }),
  startTimer(run, milliseconds) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};
