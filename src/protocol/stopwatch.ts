/**
 * Starts to measure; the function returns the milliseconds since. The monotonic clock may stand still while the
 * machine is suspended, and the other one may be set back: what counts is the larger difference.
 */
export function startStopwatch(): () => number {
  const monotonicMs = performance.now();
  const wallMs = Date.now();
  return () => Math.max(performance.now() - monotonicMs, Date.now() - wallMs);
}
