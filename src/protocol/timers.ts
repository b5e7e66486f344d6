import { clearTimeout, setImmediate, setTimeout } from 'node:timers';

/**
 * Node's own timers, captured when the package is loaded. With a test's fake timers, what has a deadline could wait
 * forever, because the deadline would never pass.
 */
export const timers = {
  clearTimeout,
  setImmediate,
  setTimeout,
  queueMicrotask: globalThis.queueMicrotask,
  /** Milliseconds on a monotonic clock. */
  now: performance.now.bind(performance),
  /** Milliseconds since 1970, by the system's clock. */
  systemNow: Date.now,
};
