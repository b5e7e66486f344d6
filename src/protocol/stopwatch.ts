/**
 * Starts measuring. The returned function returns the milliseconds since then, by the clock that shows more: the
 * monotonic clock may stand still while the machine is suspended, and the system's clock may be set back.
 */
export function startStopwatch(): () => number {
  const monotonicMs = performance.now();
  const wallMs = Date.now();
  return () => Math.max(performance.now() - monotonicMs, Date.now() - wallMs);
}
