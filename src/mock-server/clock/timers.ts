import { assertWholeNumber } from '../../protocol/assert-option.js';
import type { MockTimer } from './clock.js';

/**
 * As far as a clock goes, in epoch milliseconds: the year 9000. From 10000 on a date-time needs more
 * digits than any record has; until then a clock that runs on has a thousand years left.
 */
export const LATEST_TIME_MS = Date.UTC(9000, 0, 1);

/** A timer as a clock keeps it. */
export interface DueTimer {
  /** Epoch milliseconds of the clock. */
  readonly dueAt: number;
  readonly run: () => unknown;
}

/** A clock that keeps its timers, and can be set. */
interface SettableTime {
  now(): number;
  set(epochMs: number): void;
}

/** An advance of the clock that is refused, since one is under way. */
export class ClockBusyError extends Error {
  override readonly name = 'ClockBusyError';
}

/** The timers of a clock, and the one way in which it moves ahead. */
export class Timers<Timer extends DueTimer> {
  // Insertion order decides between timers that are due at the same time.
  readonly #timers = new Set<Timer>();
  #isAdvancing = false;

  add(timer: Timer): MockTimer {
    this.#timers.add(timer);
    return { cancel: () => void this.#timers.delete(timer) };
  }

  delete(timer: Timer): void {
    this.#timers.delete(timer);
  }

  [Symbol.iterator](): Iterator<Timer> {
    return this.#timers.values();
  }

  /**
   * @throws {InvalidOptionError} when `ms` is not a whole number from 0
   * @throws {ClockBusyError} when an earlier advance is still under way
   */
  async advance(ms: number, time: SettableTime): Promise<void> {
    assertWholeNumber('ms', ms, {
      min: 0,
      max: Math.max(0, LATEST_TIME_MS - time.now()),
      unit: 'milliseconds',
    });
    // Waiting for the earlier one instead could wait for ever: an endpoint that advances the clock
    // while it handles a callback is itself what the earlier one waits for.
    if (this.#isAdvancing) {
      throw new ClockBusyError('The clock is being advanced already; await that advance() first');
    }
    this.#isAdvancing = true;
    const end = time.now() + ms;
    try {
      for (let timer = this.#nextDue(end); timer !== undefined; timer = this.#nextDue(end)) {
        this.#timers.delete(timer);
        time.set(timer.dueAt);
        await timer.run();
      }
      time.set(end);
    } finally {
      this.#isAdvancing = false;
    }
  }

  #nextDue(end: number): Timer | undefined {
    let next: Timer | undefined;
    for (const timer of this.#timers) {
      if (timer.dueAt <= end && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
    }
    return next;
  }
}
