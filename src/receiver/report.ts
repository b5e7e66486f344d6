import type { VerifiedCallback } from '../callback/options.js';

/** The default of `onError`: nothing that needs a person goes by unseen. */
export function reportToConsole(error: unknown, callback?: VerifiedCallback): void {
  const subject = callback === undefined ? '' : ` (key ${callback.key})`;
  console.error(`merchant-payments: a payment callback could not be processed${subject}:`, error);
}

/** Calls `onError`. Whatever becomes of that, the reply stays. */
export function report(
  onError: (error: unknown, callback?: VerifiedCallback) => unknown,
  error: unknown,
  callback: VerifiedCallback | undefined,
): void {
  try {
    const reported = callback === undefined ? onError(error) : onError(error, callback);
    Promise.resolve(reported).catch(() => undefined);
  } catch {}
}
