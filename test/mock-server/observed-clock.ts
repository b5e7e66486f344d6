import { createManualClock, type MockClock } from '../../src/mock-server/index.js';
import { manualClock } from '../../src/mock-server/state/clock.js';

/** A manual clock, and a promise that settles when one of its timers is called off. */
export function createObservedClock(): { clock: MockClock; cancelled: Promise<void> } {
  const clock = createManualClock();
  const service = manualClock(clock, 'clock');
  const { setTimeout } = service;
  const cancelled = new Promise<void>((resolve) => {
    service.setTimeout = (run, delayMs) => {
      const cancel = setTimeout(run, delayMs);
      return () => {
        cancel();
        resolve();
      };
    };
  });
  return { clock, cancelled };
}
