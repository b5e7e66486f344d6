import { RequestAbortedError } from '../errors.js';
import { onAbort } from '../protocol/waiting.js';

/**
 * Waits until `ended` has settled, either way, or the timeout has passed.
 *
 * @returns whether it has settled
 * @throws {RequestAbortedError} when the caller's signal aborts
 */
export function waitFor(
  ended: Promise<unknown>,
  timeoutMs: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      stopListening?.();
      act();
    };
    const abort = (): void => settle(() => reject(abortedWhileWaiting()));
    const timer = setTimeout(() => settle(() => resolve(false)), Math.max(0, timeoutMs));
    const stopListening = signal && onAbort(signal, abort);
    if (signal?.aborted) abort();
    const end = (): void => settle(() => resolve(true));
    ended.then(end, end);
  });
}

/** @throws {RequestAbortedError} when the caller's signal aborts */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await waitFor(new Promise(() => {}), ms, signal);
}

/** @throws {RequestAbortedError} when the signal is already aborted */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw new RequestAbortedError('The payment was not sent: its signal was already aborted.', {
    requestOutcome: 'not-sent',
    safeToRetry: true,
  });
}

function abortedWhileWaiting(): RequestAbortedError {
  return new RequestAbortedError(
    'The call was aborted by its signal while another call was sending the payment. This one sent nothing.',
    { requestOutcome: 'unknown' },
  );
}
