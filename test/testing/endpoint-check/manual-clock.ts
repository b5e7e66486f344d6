import { setImmediate as nextTurn } from 'node:timers/promises';
import type { CheckClock } from '../../../src/testing/endpoint-check/options.js';

/**
 * A clock that passes when something pauses by it, and not otherwise. What an endpoint does later, it does by this
 * clock too, so that the order of things is the same on every machine.
 */
export class ManualClock implements CheckClock {
  // Into a second, of which the checks wait for the end.
  #nowMs = Date.UTC(2026, 2, 2, 9, 30, 0, 700);
  readonly #timers = new Set<{ readonly atMs: number; readonly run: () => void }>();

  readonly now = (): number => this.#nowMs;

  readonly elapsedMs = this.now;

  readonly startTimer = (run: () => void, milliseconds: number): (() => void) => {
    const timer = { atMs: this.#nowMs + milliseconds, run };
    this.#timers.add(timer);
    return () => void this.#timers.delete(timer);
  };

  /** Lets the time pass, and runs what is due in it, in order. */
  async pause(milliseconds: number): Promise<void> {
    const endMs = this.#nowMs + milliseconds;
    for (;;) {
      const [next] = [...this.#timers].sort((one, other) => one.atMs - other.atMs);
      if (next === undefined || next.atMs > endMs) break;
      this.#timers.delete(next);
      this.#nowMs = Math.max(this.#nowMs, next.atMs);
      next.run();
      await nextTurn();
    }
    this.#nowMs = Math.max(this.#nowMs, endMs);
    await nextTurn();
  }
}
