/**
 * Calls `run` when the signal is aborted. An application passes the signal of its shutdown to all its
 * calls, and Node would warn of a leak from the eleventh listener on.
 *
 * @returns how to undo that; must be called, also after the signal was aborted
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  try {
    globalThis.process?.getBuiltinModule?.('node:events').setMaxListeners(0, signal);
  } catch {
    // A signal of another library, of which Node counts no listeners.
  }
  signal.addEventListener('abort', run);
  return () => signal.removeEventListener('abort', run);
}

/** Resolves with `given`, or, if that takes longer than `limitMs`, with what `tooLate` returns or throws. */
export async function within<Value, Late>(
  limitMs: number,
  given: PromiseLike<Value> | Value,
  tooLate: () => Late,
): Promise<Value | Late> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const expired = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, limitMs);
  });
  try {
    return await Promise.race([given, expired.then(tooLate)]);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Starts measuring. The returned function returns the milliseconds since then, by the clock that shows more: the
 * monotonic clock may stand still while the machine is suspended, and the system's clock may be set back.
 */
export function startStopwatch(): () => number {
  const monotonicMs = performance.now();
  const wallMs = Date.now();
  return () => Math.max(performance.now() - monotonicMs, Date.now() - wallMs);
}

/** A value, or a promise of it. */
export type Awaitable<Value> = Value | PromiseLike<Value>;

/**
 * Accepts any thenable: a promise of another realm or library, treated as a result, would look like one without
 * issues.
 */
export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as Partial<PromiseLike<unknown>> | null | undefined)?.then === 'function';
}
