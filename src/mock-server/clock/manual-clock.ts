import {
  assertKnownOptions,
  assertOptionsObject,
  assertWholeNumber,
  type OptionNames,
} from '../../protocol/assert-option.js';
import type { AdvanceableClock } from './clock.js';
import { LATEST_TIME_MS, Timers } from './timers.js';

/** A clock that moves only when told to. */
export interface ManualClock extends AdvanceableClock {}

/** Options of {@link createManualClock}. */
export interface ManualClockOptions {
  /**
   * Where the clock starts, in epoch milliseconds, from 0 to the year 9000.
   * @default the system's time, so that a verifier on the system's clock accepts the first callbacks
   */
  now?: number | undefined;
}

const NAMES: OptionNames<ManualClockOptions> = { now: true };

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
export function createManualClock(options: ManualClockOptions = {}): ManualClock {
  assertOptionsObject('options', options, 'now');
  assertKnownOptions(options, NAMES);
  const { now = Date.now() } = options;
  assertWholeNumber('now', now, { min: 0, max: LATEST_TIME_MS, unit: 'milliseconds' });
  const timers = new Timers();
  let current = now;
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
