import type { VerifiedCallback } from '../callback/options.js';
import { type CallbackVerificationError, StoreError } from '../errors.js';
import { causesOf } from '../protocol/causes.js';
import { within } from '../protocol/within.js';

// A log that hangs must not keep the service waiting.
const REPORT_TIMEOUT_MS = 2_000;

/**
 * The default of `onError`. Shows only an error's message and stack: drivers add the command to their errors,
 * with passwords and rows.
 */
export function reportToConsole(error: unknown, callback?: VerifiedCallback): void {
  const subject = callback === undefined ? '' : ` (key ${callback.key})`;
  const isSecond = error instanceof StoreError && error.code === 'SECOND_PAYMENT';
  const what = isSecond
    ? 'a payment callback needs a person'
    : 'a payment callback could not be processed';
  console.error(`merchant-payments: ${what}${subject}: ${describeFailure(error)}`);
}

function describeFailure(error: unknown): string {
  return [...causesOf(error)].map(describeOne).join('\n  caused by: ');
}

function describeOne(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'an object' : String(error);
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  const name = typeof code === 'string' ? `[${code}] ` : '';
  // The error for several failed attempts to connect has no message of its own.
  const parts = Array.isArray(errors) ? ` (${errors.map(String).join('; ')})` : '';
  return `${name}${error.stack ?? String(error)}${parts}`;
}

/** Calls `onError` and waits for it. If it fails, the reply stays the same. */
export async function report(
  onError: (error: unknown, callback?: VerifiedCallback) => unknown,
  error: unknown,
  callback: VerifiedCallback | undefined,
): Promise<void> {
  try {
    const reported = callback === undefined ? onError(error) : onError(error, callback);
    await within(REPORT_TIMEOUT_MS, reported, () => undefined);
  } catch {}
}

const INTERVAL_MS = 60_000;

/** Limits what is written about events that anyone can cause repeatedly. */
export class OnceAMinute {
  #takenAtMs: number | undefined;
  #skipped = 0;

  /**
   * Returns how many events were skipped since the last one taken; `undefined` if this one is to be skipped.
   */
  take(): number | undefined {
    const nowMs = performance.now();
    if (this.#takenAtMs !== undefined && nowMs - this.#takenAtMs < INTERVAL_MS) {
      this.#skipped += 1;
      return undefined;
    }
    const skipped = this.#skipped;
    this.#takenAtMs = nowMs;
    this.#skipped = 0;
    return skipped;
  }
}

/**
 * Creates the default of `onRejected`: a wrong secret or clock shows at the first callback, but the log can't
 * be flooded. One entry per code.
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

const LONG_BUSY_MS = 60_000;
const MAX_BUSY_CHANGES = 1_000;

/** The changes that were busy when they were last delivered to this process. */
export class BusyChanges {
  readonly #sinceMs = new Map<string, number>();

  /** Whether the change was already busy a minute ago. */
  isLong(key: string): boolean {
    const nowMs = performance.now();
    const sinceMs = this.#sinceMs.get(key);
    if (sinceMs !== undefined) return nowMs - sinceMs >= LONG_BUSY_MS;
    const [oldest] = this.#sinceMs.keys();
    if (this.#sinceMs.size >= MAX_BUSY_CHANGES) this.#sinceMs.delete(oldest as string);
    this.#sinceMs.set(key, nowMs);
    return false;
  }

  forget(key: string): void {
    if (this.#sinceMs.size > 0) this.#sinceMs.delete(key);
  }
}

type Report = (callback: VerifiedCallback) => Promise<void>;
type OnError = (error: unknown, callback?: VerifiedCallback) => unknown;

/** Creates a function that reports changes that were acknowledged as stale, which `onPayment` never sees. */
export function createStaleReport(onError: OnError): Report {
  return onceAMinute(
    onError,
    (before) =>
      new StoreError(
        'STALE_CHANGE',
        `A change${before} was acknowledged without onPayment: a newer one of its payment was processed before. With onStale: 'process' onPayment gets it with stale: true`,
      ),
  );
}

/** Creates a function that reports changes that the store still finds busy long after they happened. */
export function createOverdueReport(onError: OnError): Report {
  return onceAMinute(
    onError,
    (before) =>
      new StoreError(
        'CHANGE_OVERDUE',
        `A change${before} is more than ten minutes old and was not processed, because its order is still busy. Look for an onPayment that does not end, or a transaction that was left open and locks the store's tables. The service eventually stops retrying`,
      ),
  );
}

function onceAMinute(onError: OnError, toError: (before: string) => StoreError): Report {
  const limit = new OnceAMinute();
  return async (callback) => {
    const unreported = limit.take();
    if (unreported === undefined) return;
    await report(
      onError,
      toError(unreported > 0 ? ` (and ${unreported} before it)` : ''),
      callback,
    );
  };
}
