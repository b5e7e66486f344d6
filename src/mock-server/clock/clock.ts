/** A timer that can be called off. */
export interface MockTimer {
  /** Keeps the timer from running. Does nothing when it has run already. */
  cancel(): void;
}

/**
 * The time a mock service lives in: dates of payments, retries and delays. By default it runs with
 * the system's and can be moved ahead ({@link createRunningClock}); {@link createManualClock} makes
 * one that stands still.
 */
export interface MockClock {
  /** The time in epoch milliseconds. */
  now(): number;
  /** Runs `run` once, `delayMs` milliseconds from now. */
  setTimeout(run: () => unknown, delayMs: number): MockTimer;
  /**
   * The time that callbacks are signed with, in epoch milliseconds, where it is another.
   * @default the clock's `now`
   */
  signingTime?(): number;
}

/** A clock that can be moved ahead. */
export interface AdvanceableClock extends MockClock {
  /**
   * Moves the time ahead by `ms` milliseconds (a whole number from 0) and runs every timer that falls
   * due, in order, each at its own time. The promise a timer returns is awaited before the next one
   * runs, so a callback is sent and answered, or has timed out, before the time goes on; timers set
   * on the way are run too. Hours of retries take as long as the attempts in them.
   *
   * Await the `setStatus` whose retries you want to see first: a retry exists from the end of the
   * attempt before it.
   *
   * @throws {InvalidOptionError} when `ms` is not a whole number from 0
   * @throws {Error} when an earlier `advance` is still under way
   */
  advance(ms: number): Promise<void>;
}

export function isAdvanceable(clock: MockClock): clock is AdvanceableClock {
  return typeof (clock as Partial<AdvanceableClock>).advance === 'function';
}
