import { RequestAbortedError } from '../errors.js';
import { onAbort } from '../protocol/waiting.js';

/** @throws {RequestAbortedError} when the caller's signal aborts */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const end = (settle: () => void): void => {
      clearTimeout(timer);
      stopListening?.();
      settle();
    };
    const timer = setTimeout(() => end(resolve), ms);
    const abort = (): void => end(() => reject(aborted()));
    const stopListening = signal && onAbort(signal, abort);
    if (signal?.aborted) abort();
  });
}

/** @throws {RequestAbortedError} when the signal is already aborted */
export function assertNotAborted(signal: AbortSignal | undefined): void {
  if (!signal?.aborted) return;
  throw new RequestAbortedError('The payment was not sent: its signal was already aborted.', {
    requestOutcome: 'not-sent',
    safeToRetry: true,
  });
}

const aborted = () =>
  new RequestAbortedError(
    'The call was aborted by its signal while another call was sending the payment. This one sent nothing.',
    { requestOutcome: 'unknown' },
  );
