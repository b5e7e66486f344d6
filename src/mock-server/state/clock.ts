import { MockServerError } from '../../errors.js';
import {
  type OptionRules,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';

/** A timer that can be cancelled. */
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
   * runs, so a callback is sent and answered, or has timed out, before the time goes on. Timers set
   * on the way run too. Hours of retries take as long as the attempts in them.
   *
   * Await the `setStatus` whose retries you want to see first: a retry exists from the end of the
   * attempt before it.
   *
   * @throws {InvalidOptionError} when `ms` is not a whole number from 0
   * @throws {MockServerError} `CLOCK_BUSY` when an earlier `advance` is still under way
   */
  advance(ms: number): Promise<void>;
}

export function isAdvanceable(clock: MockClock): clock is AdvanceableClock {
  return typeof (clock as Partial<AdvanceableClock>).advance === 'function';
}

/** Options of {@link createManualClock}. */
export interface ManualClockOptions {
  /**
   * Where the clock starts, in epoch milliseconds, from 0 to the year 9000.
   * @default the system's time, so that a verifier on the system's clock accepts the first callbacks
   */
  now?: number | undefined;
}

/**
 * Makes a clock that moves only by {@link AdvanceableClock.advance}. A verifier under test takes its
 * time from it as well: `now: clock.now`.
 *
 * @throws {InvalidOptionError} when `now` is not a whole number from 0, or an option is not known
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
export function createManualClock(options: ManualClockOptions = {}): AdvanceableClock {
  const rules = {
    now: withDefault(Date.now(), wholeNumber({ max: LATEST_TIME_MS, unit: 'milliseconds' })),
  } satisfies OptionRules<ManualClockOptions>;
  const timers = new Timers();
  let current = resolveOptions(options, rules).now;
  const time = {
    now: () => current,
    set(epochMs: number) {
      current = epochMs;
    },
  };
  return {
    now: time.now,
    setTimeout: (run, delayMs) => timers.add({ dueAt: current + delayMs, run }),
    advance: (ms) => timers.advance(ms, time),
  };
}

interface StartedTimer extends DueTimer {
  handle?: NodeJS.Timeout;
}

/**
 * Makes the clock that a mock service has by default. It runs with the system's, and moving it ahead
 * brings retries and delays forward. Callbacks are signed with the system's time all the same: an
 * endpoint that checks X-Timestamp against its own clock goes on accepting them.
 *
 * @example
 * ```ts
 * import { createRunningClock, startMockServer } from 'merchant-payments/mock-server';
 *
 * const clock = createRunningClock();
 * await using server = await startMockServer({ clock, retryScheduleMs: [3_600_000] });
 * await clock.advance(3_600_000); // makes the retry that is due in an hour
 * ```
 */
export function createRunningClock(): AdvanceableClock {
  const timers = new Timers<StartedTimer>();
  let aheadMs = 0;
  const time = {
    now: () => Date.now() + aheadMs,
    set(epochMs: number) {
      // Never back: real time goes on while the timers of an advance run.
      aheadMs += Math.max(0, epochMs - time.now());
    },
  };

  function start(timer: StartedTimer): void {
    clearTimeout(timer.handle);
    timer.handle = setTimeout(
      () => {
        timers.delete(timer);
        timer.run();
      },
      Math.max(0, timer.dueAt - time.now()),
    );
  }

  return {
    now: time.now,
    signingTime: Date.now,
    setTimeout(run, delayMs) {
      const timer: StartedTimer = {
        dueAt: time.now() + delayMs,
        run() {
          clearTimeout(timer.handle);
          return run();
        },
      };
      const { cancel } = timers.add(timer);
      start(timer);
      return {
        cancel() {
          clearTimeout(timer.handle);
          cancel();
        },
      };
    },
    async advance(ms) {
      try {
        await timers.advance(ms, time);
      } finally {
        for (const timer of timers) start(timer);
      }
    },
  };
}

// From the year 10000 on a date-time has more digits than any record; until then a clock that runs
// on has a thousand years left.
const LATEST_TIME_MS = Date.UTC(9000, 0, 1);

interface DueTimer {
  /** Epoch milliseconds of the clock. */
  readonly dueAt: number;
  readonly run: () => unknown;
}

interface SettableTime {
  now(): number;
  set(epochMs: number): void;
}

/** The timers of a clock, and the one way in which it moves ahead. */
class Timers<Timer extends DueTimer> {
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

  async advance(ms: number, time: SettableTime): Promise<void> {
    const max = Math.max(0, LATEST_TIME_MS - time.now());
    wholeNumber({ max, unit: 'milliseconds' })(ms, 'ms');
    // Waiting for the earlier one instead could wait for ever: an endpoint that advances the clock
    // while it handles a callback is itself what the earlier one waits for.
    if (this.#isAdvancing) {
      throw new MockServerError(
        'CLOCK_BUSY',
        'The clock is being advanced already; await that advance() first',
      );
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
