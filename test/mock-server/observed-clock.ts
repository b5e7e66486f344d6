import { type AdvanceableClock, createManualClock } from '../../src/mock-server/index.js';

interface ObservedClock extends AdvanceableClock {
  /** Settles when a timer is called off. */
  readonly cancelled: Promise<void>;
}

/** A manual clock that reports when a waiter has been cancelled. */
export function createObservedClock(): ObservedClock {
  const clock = createManualClock();
  let tell: () => void = () => undefined;
  const cancelled = new Promise<void>((resolve) => {
    tell = resolve;
  });
  return {
    ...clock,
    cancelled,
    setTimeout(run, delayMs) {
      const timer = clock.setTimeout(run, delayMs);
      return {
        cancel() {
          timer.cancel();
          tell();
        },
      };
    },
  };
}
