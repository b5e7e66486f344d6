import { clearTimeout, setImmediate, setTimeout } from 'node:timers';

/**
 * Node's own timers, as they were when the package was loaded. Under a test's fake timers a call
 * would otherwise wait for a turn of the event loop that never comes, without a deadline that ends it.
 */
export const timers = {
  clearTimeout,
  setImmediate,
  setTimeout,
  queueMicrotask: globalThis.queueMicrotask,
  /** Milliseconds on a clock that is never set. */
  now: performance.now.bind(performance),
};
