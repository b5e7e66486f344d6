import type { CallbackVerificationError } from '../errors.js';

const INTERVAL_MS = 60_000;

interface Entry {
  loggedAtMs: number;
  unlogged: number;
}

/**
 * The default of `onRejected`: a wrong secret or a clock that is off is seen at the first callback,
 * and nobody can fill the log. There are as many entries as there are codes.
 */
export function createRejectionLog(): (error: CallbackVerificationError) => void {
  const entries = new Map<string, Entry>();
  return ({ code, message }) => {
    const nowMs = performance.now();
    const entry = entries.get(code);
    if (entry !== undefined && nowMs - entry.loggedAtMs < INTERVAL_MS) {
      entry.unlogged += 1;
      return;
    }
    const before = entry?.unlogged ? ` (and ${entry.unlogged} before it)` : '';
    console.warn(`merchant-payments: a payment callback was refused${before}: ${code}: ${message}`);
    entries.set(code, { loggedAtMs: nowMs, unlogged: 0 });
  };
}
