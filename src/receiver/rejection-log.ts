import type { CallbackVerificationError } from '../errors.js';
import { OnceAMinute } from './once-a-minute.js';

/**
 * The default of `onRejected`: a wrong secret or a clock that is off is seen at the first callback,
 * and nobody can fill the log. There are as many entries as there are codes.
 */
export function createRejectionLog(): (error: CallbackVerificationError) => void {
  const entries = new Map<string, OnceAMinute>();
  return ({ code, message }) => {
    const entry = entries.get(code) ?? new OnceAMinute();
    entries.set(code, entry);
    const unlogged = entry.take();
    if (unlogged === undefined) return;
    const before = unlogged > 0 ? ` (and ${unlogged} before it)` : '';
    console.warn(`merchant-payments: a payment callback was refused${before}: ${code}: ${message}`);
  };
}
