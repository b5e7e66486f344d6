import type { VerifiedCallback } from '../callback/options.js';
import { causesOf } from './causes.js';

// A log that hangs must not keep the service waiting.
const PATIENCE_MS = 2_000;

/**
 * The default of `onError`: nothing that needs a person goes by unseen. Of an error its text and
 * stack are shown and nothing else: drivers add the command to theirs, with passwords and rows.
 */
export function reportToConsole(error: unknown, callback?: VerifiedCallback): void {
  const subject = callback === undefined ? '' : ` (key ${callback.key})`;
  const what = 'a payment callback could not be processed';
  console.error(`merchant-payments: ${what}${subject}: ${describeFailure(error)}`);
}

function describeFailure(error: unknown): string {
  return [...causesOf(error)].map(describeOne).join('\n  caused by: ');
}

function describeOne(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'an object' : String(error);
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  const name = typeof code === 'string' ? `[${code}] ` : '';
  // What several attempts to connect end in has no message of its own.
  const parts = Array.isArray(errors) ? ` (${errors.map(String).join('; ')})` : '';
  return `${name}${error.stack ?? String(error)}${parts}`;
}

/** Calls `onError` and waits for it. Whatever becomes of that, the reply stays. */
export async function report(
  onError: (error: unknown, callback?: VerifiedCallback) => unknown,
  error: unknown,
  callback: VerifiedCallback | undefined,
): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const reported = callback === undefined ? onError(error) : onError(error, callback);
    const patience = new Promise((resolve) => {
      timer = setTimeout(resolve, PATIENCE_MS);
    });
    await Promise.race([reported, patience]);
  } catch {
  } finally {
    clearTimeout(timer);
  }
}
