import type { AdvanceableClock } from './clock.js';
import { type DueTimer, Timers } from './timers.js';

/** A clock that runs with the system's and can be moved ahead. */
export interface RunningClock extends AdvanceableClock {
  /** The system's time, however far the clock was moved ahead. */
  signingTime(): number;
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
 * await clock.advance(3_600_000); // the retry that is due in an hour comes now
 * ```
 */
export function createRunningClock(): RunningClock {
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
