/** The calls that a signal cancels, and the one listener on it for all of them. */
interface Relay {
  readonly calls: Set<() => void>;
  readonly listener: () => void;
}

const relays = new WeakMap<AbortSignal, Relay>();

/**
 * Calls `run` when the signal is aborted. An application passes the signal of its shutdown to all its
 * calls, and Node warns of a leak from the eleventh listener on: so there is one for all.
 *
 * @returns how to undo that; must be called, also after the signal was aborted
 */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const relay = relays.get(signal) ?? createRelay(signal);
  const { calls, listener } = relay;
  calls.add(run);
  return () => {
    if (!calls.delete(run) || calls.size > 0) return;
    signal.removeEventListener('abort', listener);
    relays.delete(signal);
  };
}

function createRelay(signal: AbortSignal): Relay {
  const calls = new Set<() => void>();
  const listener = (): void => {
    for (const run of calls) {
      try {
        run();
      } catch (error) {
        // A user's dispatcher that throws must not keep the abort from the other calls.
        queueMicrotask(() => {
          throw error;
        });
      }
    }
  };
  signal.addEventListener('abort', listener);
  const relay = { calls, listener };
  relays.set(signal, relay);
  return relay;
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
