import { MockServerError } from '../../errors.js';
import {
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

export function isAdvanceable(clock: MockClock): clock is AdvanceableClock {
  return typeof (clock as Partial<AdvanceableClock>).advance === 'function';
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
  // One system timer, for the first that is due: 100,000 retries may be waiting.
  let started: DueTimer | undefined;
  let handle: NodeJS.Timeout | undefined;

  function start(now = time.now()): void {
    const first = timers.first();
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

class DueTimer implements MockTimer {
  /** Epoch milliseconds of the clock. */
  readonly dueAt: number;
  /** Decides between timers that are due at the same time. */
  readonly order: number;
  readonly #timers: Timers;
  #task: (() => unknown) | undefined;

  constructor(timers: Timers, dueAt: number, order: number, task: () => unknown) {
    this.#timers = timers;
    this.dueAt = dueAt;
    this.order = order;
    this.#task = task;
  }

  get isCancelled(): boolean {
    return this.#task === undefined;
  }

  run(): unknown {
    const task = this.#task;
    this.#task = undefined;
    return task?.();
  }

  cancel(): void {
    this.#task = undefined;
    this.#timers.onFirst();
  }
}

interface SettableTime {
  now(): number;
  set(epochMs: number): void;
}

/** The timers of a clock, and how it advances. */
class Timers {
  /** Called when another timer may be the first. */
  readonly onFirst: () => void;
  // A binary heap: the children of place n are at 2n + 1 and 2n + 2, and not due before it.
  #heap: DueTimer[] = [];
  #pruneAt = 1_000;
  #added = 0;
  #isAdvancing = false;

  constructor(onFirst: () => void = () => undefined) {
    this.onFirst = onFirst;
  }

  add(task: () => unknown, dueAt: number): MockTimer {
    if (this.#heap.length >= this.#pruneAt) this.#prune();
    this.#added += 1;
    const timer = new DueTimer(this, dueAt, this.#added, task);
    this.#rise(timer);
    if (this.#heap[0] === timer) this.onFirst();
    return timer;
  }

  /** The timer that is due first. */
  first(): DueTimer | undefined {
    while (this.#heap[0]?.isCancelled) this.#removeFirst();
    return this.#heap[0];
  }

  /** Removes the first timer when it is due by `end`. */
  takeDue(end: number): DueTimer | undefined {
    const first = this.first();
    if (first === undefined || first.dueAt > end) return undefined;
    this.#removeFirst();
    return first;
  }

  // Cancelled timers stay until they may be half of all.
  #prune(): void {
    this.#heap = this.#heap.filter(({ isCancelled }) => !isCancelled).sort(compare);
    this.#pruneAt = 2 * this.#heap.length + 1_000;
  }

  #rise(timer: DueTimer): void {
    let place = this.#heap.length;
    while (place > 0) {
      const above = (place - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || compare(parent, timer) < 0) break;
      this.#heap[place] = parent;
      place = above;
    }
    this.#heap[place] = timer;
  }

  #removeFirst(): void {
    const timer = this.#heap.pop();
    if (timer === undefined || this.#heap.length === 0) return;
    let place = 0;
    for (;;) {
      const left = this.#heap[2 * place + 1];
      const right = this.#heap[2 * place + 2];
      if (left === undefined) break;
      const isRight = right !== undefined && compare(right, left) < 0;
      const child = isRight ? right : left;
      if (compare(timer, child) < 0) break;
      this.#heap[place] = child;
      place = 2 * place + (isRight ? 2 : 1);
    }
    this.#heap[place] = timer;
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

function compare(one: DueTimer, other: DueTimer): number {
  return one.dueAt - other.dueAt || one.order - other.order;
}
