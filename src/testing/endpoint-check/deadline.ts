import { setTimeout as sleep } from 'node:timers/promises';

/** Stands for a result that did not come in time. */
export const EXPIRED = Symbol('expired');

interface Limits {
  readonly timeoutMs: number;
  readonly signal: AbortSignal | undefined;
}

/** Runs code of the user's, which may throw, reject or never end. Rejects with the signal's reason too. */
export function withDeadline<Result>(
  work: () => Result | PromiseLike<Result>,
  { timeoutMs, signal }: Limits,
): Promise<Result | typeof EXPIRED> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const stop = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', abort);
    };
    const abort = (): void => {
      stop();
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      stop();
      resolve(EXPIRED);
    }, timeoutMs);
    signal?.addEventListener('abort', abort);
    Promise.resolve().then(work).finally(stop).then(resolve, reject);
  });
}

/** Rejects when the signal aborts. */
export async function pause(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  await sleep(milliseconds, undefined, signal === undefined ? {} : { signal });
}
