import { assertWholeNumber } from '../protocol/assert-option.js';

/** A timer that can be called off. */
export interface MockTimer {
  /** Keeps the timer from running. Does nothing when it has run already. */
  cancel(): void;
}

/**
 * The time a mock service lives in: timestamps of callbacks, dates of payments, retries and delays.
 * The default is the system's; {@link createManualClock} makes one that stands still.
 */
export interface MockClock {
  /** The time in epoch milliseconds. */
  now(): number;
  /** Runs `run` once, `delayMs` milliseconds from now. */
  setTimeout(run: () => unknown, delayMs: number): MockTimer;
}

/** A clock that moves only when told to. */
export interface ManualClock extends MockClock {
  /**
   * Moves the time by `ms` milliseconds (a whole number from 0) and runs every timer that falls due,
   * in order, each at its own time. The promise a timer returns is awaited before the next one runs,
   * so a callback is sent and answered, or has timed out, before the time goes on; timers set on
   * the way are run too. Hours of retries take as long as the attempts in them.
   *
   * Await the `setStatus` whose retries you want to see first: a retry exists from the end of the
   * attempt before it.
   *
   * @throws {InvalidOptionError} when `ms` is not a whole number from 0
   * @throws {Error} when an earlier `advance` is still under way
   */
  advance(ms: number): Promise<void>;
}

/** Options of {@link createManualClock}. */
export interface ManualClockOptions {
  /**
   * Where the clock starts, in epoch milliseconds, from 0.
   * @default the system's time, so that a verifier on the system's clock accepts the first callbacks
   */
  now?: number | undefined;
}

/** The latest time a Date can hold, in epoch milliseconds. */
const LATEST_DATE_MS = 8_640_000_000_000_000;

/** The system's time and timers. */
export const systemClock: MockClock = Object.freeze({
  now: () => Date.now(),
  setTimeout(run: () => unknown, delayMs: number): MockTimer {
    const timer = setTimeout(run, delayMs);
    return { cancel: () => clearTimeout(timer) };
  },
});

interface ManualTimer {
  readonly dueAt: number;
  readonly run: () => unknown;
}

/**
 * Makes a clock that moves only by {@link ManualClock.advance}. A verifier under test takes its
 * time from it as well: `now: clock.now`.
 *
 * @throws {InvalidOptionError} when `now` is not a whole number from 0
 *
 * @example
 * ```ts
 * import { createManualClock, startMockServer } from 'merchant-payments/mock-server';
 *
 * const clock = createManualClock();
 * const server = await startMockServer({ clock, retryScheduleMs: [60_000, 3_600_000] });
 * await clock.advance(2 * 3_600_000); // two hours of retries
 * await server.close();
 * ```
 */
export function createManualClock({ now = Date.now() }: ManualClockOptions = {}): ManualClock {
  assertWholeNumber('now', now, { min: 0, max: LATEST_DATE_MS, unit: 'milliseconds' });
  // Insertion order decides between timers that are due at the same time.
  const timers = new Set<ManualTimer>();
  let current = now;
  let advancing = false;

  function nextDue(end: number): ManualTimer | undefined {
    let next: ManualTimer | undefined;
    for (const timer of timers) {
      if (timer.dueAt <= end && (next === undefined || timer.dueAt < next.dueAt)) next = timer;
    }
    return next;
  }

  async function runUntil(end: number): Promise<void> {
    for (let timer = nextDue(end); timer !== undefined; timer = nextDue(end)) {
      timers.delete(timer);
      current = timer.dueAt;
      await timer.run();
    }
    current = end;
  }

  return {
    now: () => current,
    setTimeout(run, delayMs) {
      const timer = { dueAt: current + delayMs, run };
      timers.add(timer);
      return { cancel: () => void timers.delete(timer) };
    },
    async advance(ms) {
      assertWholeNumber('ms', ms, {
        min: 0,
        max: LATEST_DATE_MS - current,
        unit: 'milliseconds',
      });
      // Waiting for the earlier one instead could wait for ever: an endpoint that advances the clock
      // while it handles a callback is itself what the earlier one waits for.
      if (advancing) {
        throw new Error('The clock is being advanced already; await that advance() first');
      }
      advancing = true;
      try {
        await runUntil(current + ms);
      } finally {
        advancing = false;
      }
    },
  };
}
