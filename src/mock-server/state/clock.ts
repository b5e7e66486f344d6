import { InvalidOptionError } from '../../errors.js';
import {
  hasMethod,
  matching,
  type OptionRules,
  type Rule,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../../protocol/options.js';

/**
 * A mock service's time, which determines dates of payments, retries and delays. It stands still until it is
 * advanced. {@link createManualClock} makes it.
 */
export interface MockClock {
  /** The time in epoch milliseconds. Works detached: a verifier takes it as `now: clock.now`. */
  now(): number;
  /**
   * Advances the time by `ms` milliseconds (a whole number from 0) and runs what falls due, in order, each at its
   * own time, also what is set meanwhile. A callback is answered or has timed out before time advances further.
   * To see retries, await `setStatus` first: a retry is scheduled when the attempt before it ends.
   *
   * @throws {InvalidOptionError} when `ms` is not a whole number from 0, or while an earlier `advance` is under way
   */
  advance(ms: number): Promise<void>;
}

/** A clock as the service uses it. */
export interface ServiceClock extends MockClock {
  /** Whether it moves by itself. */
  readonly runs: boolean;
  /** The time that callbacks are signed with, in epoch milliseconds. */
  signingTime(): number;
  /** Moves the time ahead without running what falls due. */
  moveTo(epochMs: number): void;
  /** Runs `run` once, `delayMs` milliseconds from now. Returns what prevents that. */
  setTimeout(run: () => unknown, delayMs: number): () => void;
}

/** Takes what {@link createManualClock} returned, of any copy of the package. */
export const manualClock: Rule<ServiceClock> = matching(
  'a clock made by createManualClock()',
  (value: unknown) => hasMethod(value, 'moveTo'),
);

/** Options of {@link createManualClock}. */
export interface ManualClockOptions {
  /**
   * Where the clock starts, in epoch milliseconds, from 0 to the year 9000.
   * @default the system's time, so that a verifier on the system's clock accepts the callbacks
   */
  now?: number | undefined;
}

/**
 * Makes a clock that moves only by {@link MockClock.advance}. Give it to the verifier under test
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
export function createManualClock(options: ManualClockOptions = {}): MockClock {
  const rules = {
    now: withDefault(Date.now(), wholeNumber({ max: LATEST_TIME_MS, unit: 'milliseconds' })),
  } satisfies OptionRules<ManualClockOptions>;
  let nowMs = resolveOptions(options, rules).now;
  const now = () => nowMs;
  const moveTo = (epochMs: number) => {
    nowMs = epochMs;
  };
  const timers = createTimers({ now, moveTo, arm: () => undefined });
  const clock: ServiceClock = { ...timers, runs: false, signingTime: now };
  return clock;
}

/**
 * Makes a service's default clock. It follows the system's, and advancing it brings retries and delays forward.
 * Callbacks are still signed with the system's time, so an endpoint that checks X-Timestamp against its own clock
 * accepts them.
 */
export function createSystemClock(): ServiceClock {
  let aheadMs = 0;
  const now = () => Date.now() + aheadMs;
  // Never back: real time passes while the timers of an advance run.
  const moveTo = (epochMs: number) => {
    aheadMs += Math.max(0, epochMs - now());
  };
  const arm = (delayMs: number, run: () => void) => {
    const timer = setTimeout(run, Math.max(0, delayMs));
    // A service that nothing closes, as msw's handlers make one, must not keep the process alive. A server does.
    timer.unref?.();
    return () => clearTimeout(timer);
  };
  return { ...createTimers({ now, moveTo, arm }), runs: true, signingTime: Date.now };
}

// From the year 10000 a date-time has five digits for the year. The system's clock advanced to the limit has
// a thousand years until then.
const LATEST_TIME_MS = Date.UTC(9000, 0, 1);

interface Timer {
  /** Epoch milliseconds of the clock. */
  readonly dueAt: number;
  readonly run: () => unknown;
  disarm: (() => void) | undefined;
}

interface Time extends Pick<ServiceClock, 'now' | 'moveTo'> {
  /** Calls `run` when the time has passed by itself, if it does. Returns what prevents that. */
  readonly arm: (delayMs: number, run: () => void) => (() => void) | undefined;
}

/** The timers of a clock, and how it is advanced. */
function createTimers({ now, moveTo, arm }: Time): Omit<ServiceClock, 'runs' | 'signingTime'> {
  /** In the order in which they fall due; of those due at the same time, the one set earlier is first. */
  const timers: Timer[] = [];
  let isAdvancing = false;

  /** Returns whether it was still to run. */
  function take(timer: Timer): boolean {
    timer.disarm?.();
    const place = timers.indexOf(timer);
    if (place >= 0) timers.splice(place, 1);
    return place >= 0;
  }
  function armAgain(timer: Timer): void {
    timer.disarm?.();
    timer.disarm = arm(timer.dueAt - now(), () => {
      if (take(timer)) timer.run();
    });
  }

  return {
    now,
    moveTo,
    setTimeout(run, delayMs) {
      const timer: Timer = { dueAt: now() + delayMs, run, disarm: undefined };
      const place = timers.findLastIndex((other) => other.dueAt <= timer.dueAt) + 1;
      timers.splice(place, 0, timer);
      armAgain(timer);
      return () => void take(timer);
    },
    async advance(ms) {
      const max = Math.max(0, LATEST_TIME_MS - now());
      wholeNumber({ max, unit: 'milliseconds' })(ms, 'ms');
      // Waiting for the earlier one could deadlock: it may be waiting for the very endpoint that advances the
      // clock while it handles a callback.
      if (isAdvancing) {
        const message = 'The clock is being advanced already; await that advance() first';
        throw new InvalidOptionError('clock', message);
      }
      isAdvancing = true;
      const end = now() + ms;
      try {
        for (let [first] = timers; first && first.dueAt <= end; [first] = timers) {
          take(first);
          moveTo(first.dueAt);
          await first.run();
        }
        moveTo(end);
      } finally {
        isAdvancing = false;
        for (const timer of timers) armAgain(timer);
      }
    },
  };
}
