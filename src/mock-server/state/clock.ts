import { MockServerError } from '../../errors.js';
import {
  hasMethod,
  type OptionRules,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';

/** A timer that can be cancelled. */
export interface MockTimer {
  /** Prevents the timer from running. Does nothing after it has run. */
  cancel(): void;
}

/**
 * A mock service's time, which determines dates of payments, retries and delays. The default
 * ({@link createRunningClock}) follows the system's clock and can be advanced; {@link createManualClock}
 * makes one that stands still.
 */
export interface MockClock {
  /** The time in epoch milliseconds. */
  now(): number;
  /** Runs `run` once, `delayMs` milliseconds from now. */
  setTimeout(run: () => unknown, delayMs: number): MockTimer;
  /**
   * The time that callbacks are signed with, in epoch milliseconds.
   * @default `now`
   */
  signingTime?(): number;
}

/** A clock that can be advanced. */
export interface AdvanceableClock extends MockClock {
  /**
   * Advances the time by `ms` milliseconds (a whole number from 0) and runs every timer that falls due, in
   * order, each at its own time. Awaits each timer's promise before the next runs, so a callback is
   * answered or has timed out before time advances further. Timers set meanwhile run too. Hours of
   * retries take only as long as their attempts.
   *
   * To see retries, await `setStatus` first: a retry is scheduled when the attempt before it ends.
   *
   * @throws {InvalidOptionError} when `ms` is not a whole number from 0
   * @throws {MockServerError} `CLOCK_BUSY` while an earlier `advance` is under way
   */
  advance(ms: number): Promise<void>;
}

export const signingTimeOf = (clock: MockClock): number =>
  hasMethod(clock, 'signingTime') ? (clock as Required<MockClock>).signingTime() : clock.now();

export function isAdvanceable(clock: MockClock): clock is AdvanceableClock {
  return hasMethod(clock, 'advance');
}

/** Options of {@link createManualClock}. */
export interface ManualClockOptions {
  /**
   * Where the clock starts, in epoch milliseconds, from 0 to the year 9000.
   * @default the system's time, so that a verifier on the system's clock accepts the callbacks
   */
  now?: number | undefined;
}

/**
 * Makes a clock that moves only by {@link AdvanceableClock.advance}. Give it to the verifier under test
 * too: `now: clock.now`.
 *
 * @throws {InvalidOptionError} when `now` is not a whole number from 0, or an option is unknown
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
    setTimeout: (run, delayMs) => timers.add(run, current + delayMs),
    advance: (ms) => timers.advance(ms, time),
  };
}

/**
 * Makes a mock service's default clock. It follows the system's, and advancing it brings retries and
 * delays forward. Callbacks are still signed with the system's time, so an endpoint that checks
 * X-Timestamp against its own clock accepts them.
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
  const timers = new Timers(() => start());
  let aheadMs = 0;
  const time = {
    now: () => Date.now() + aheadMs,
    set(epochMs: number) {
      // Never back: real time passes while the timers of an advance run.
      aheadMs += Math.max(0, epochMs - time.now());
    },
  };
  // One system timer, for the first that is due.
  let started: DueTimer | undefined;
  let handle: NodeJS.Timeout | undefined;

  function start(now = time.now()): void {
    const { first } = timers;
    if (first === started) return;
    clearTimeout(handle);
    started = first;
    if (first !== undefined) handle = setTimeout(runDue, Math.max(0, first.dueAt - now), first);
  }

  function runDue({ dueAt }: DueTimer): void {
    // It is due even if a test has frozen Date.
    const now = Math.max(time.now(), dueAt);
    for (let count = 0; count < RUN_AT_ONCE; count += 1) {
      const due = timers.takeDue(now);
      if (due === undefined) break;
      queueMicrotask(() => due.run());
    }
    start(now);
  }

  return {
    now: time.now,
    signingTime: Date.now,
    setTimeout: (run, delayMs) => timers.add(run, time.now() + delayMs),
    async advance(ms) {
      try {
        await timers.advance(ms, time);
      } finally {
        clearTimeout(handle);
        started = undefined;
        start();
      }
    },
  };
}

/** After a delay many may be due. If all started at once, before the first ended, memory would run out. */
const RUN_AT_ONCE = 100;

// From the year 10000 a date-time has five digits for the year. A running clock advanced to the limit has a
// thousand years until then.
const LATEST_TIME_MS = Date.UTC(9000, 0, 1);

interface DueTimer {
  /** Epoch milliseconds of the clock. */
  readonly dueAt: number;
  /** Does nothing once the timer was cancelled. */
  run(): unknown;
}

interface SettableTime {
  now(): number;
  set(epochMs: number): void;
}

/** The timers of a clock, and how it advances. */
class Timers {
  /** Called when another timer may be the first. */
  readonly #onFirst: () => void;
  /** In the order in which they fall due; of those due at the same time, the one set earlier is first. */
  readonly #timers: DueTimer[] = [];
  #isAdvancing = false;

  constructor(onFirst: () => void = () => undefined) {
    this.#onFirst = onFirst;
  }

  add(task: () => unknown, dueAt: number): MockTimer {
    let isCancelled = false;
    const timer: DueTimer = { dueAt, run: () => (isCancelled ? undefined : task()) };
    const place = this.#timers.findLastIndex((other) => other.dueAt <= dueAt) + 1;
    this.#timers.splice(place, 0, timer);
    if (place === 0) this.#onFirst();
    return {
      cancel: () => {
        isCancelled = true;
        const found = this.#timers.indexOf(timer);
        if (found >= 0) this.#timers.splice(found, 1);
        if (found === 0) this.#onFirst();
      },
    };
  }

  /** The timer that is due first. */
  get first(): DueTimer | undefined {
    return this.#timers[0];
  }

  /** Removes the first timer when it is due by `end`. */
  takeDue(end: number): DueTimer | undefined {
    const { first } = this;
    return first === undefined || first.dueAt > end ? undefined : this.#timers.shift();
  }

  async advance(ms: number, time: SettableTime): Promise<void> {
    const max = Math.max(0, LATEST_TIME_MS - time.now());
    wholeNumber({ max, unit: 'milliseconds' })(ms, 'ms');
    // Waiting for the earlier one could deadlock: it may be waiting for the very endpoint that advances the
    // clock while it handles a callback.
    if (this.#isAdvancing) {
      throw new MockServerError(
        'CLOCK_BUSY',
        'The clock is being advanced already; await that advance() first',
      );
    }
    this.#isAdvancing = true;
    const end = time.now() + ms;
    try {
      for (let timer = this.takeDue(end); timer !== undefined; timer = this.takeDue(end)) {
        time.set(timer.dueAt);
        await timer.run();
      }
      time.set(end);
    } finally {
      this.#isAdvancing = false;
    }
  }
}
