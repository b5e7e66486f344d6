import type { VerifiedCallback } from '../callback/options.js';
import {
  CallbackVerificationError,
  InvalidOptionError,
  MerchantPaymentsError,
  RetryLaterError,
  StoreError,
} from '../errors.js';
import { causesOf } from '../protocol/describe-value.js';
import { type Logger, referenceFields, writeLine } from '../protocol/logger.js';
import { within } from '../protocol/waiting.js';

// A log that hangs must not keep the service waiting.
const REPORT_TIMEOUT_MS = 2_000;

/**
 * The default of `onError`. Shows only an error's message and stack: drivers add the command to their errors,
 * with passwords and rows.
 */
export function reportToConsole(error: unknown, callback?: VerifiedCallback): void {
  const subject = callback === undefined ? '' : ` (${nameOf(callback)})`;
  const isSecond = error instanceof StoreError && error.code === 'SECOND_PAYMENT';
  const what = isSecond ? 'needs a person' : 'could not be processed';
  const texts = [...causesOf(error)].map((cause) => describe(cause, callback === undefined));
  const failure = error === undefined ? 'undefined was thrown' : texts.join('\n  caused by: ');
  console.error(`merchant-payments: a payment callback ${what}${subject}: ${failure}`);
}

function nameOf({ key, payment }: VerifiedCallback): string {
  const named = Object.entries({ key, ...referenceFields(payment) });
  return named.map(([name, value]) => `${name} ${value}`).join(', ');
}

/** @param isOfRequest whether any stranger can cause it by a request: then its stack shows only this package */
function describe(error: unknown, isOfRequest: boolean): string {
  if (!(error instanceof Error)) return typeof error === 'object' ? 'an object' : String(error);
  const isRefusal =
    error instanceof CallbackVerificationError || error instanceof InvalidOptionError;
  if (isRefusal && isOfRequest) return `[${error.code}] ${error.message}`;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  const name = typeof code === 'string' ? `[${code}] ` : '';
  // The error for several failed attempts to connect has no message.
  const parts = Array.isArray(errors) ? ` (${errors.map(String).join('; ')})` : '';
  return `${name}${error.stack ?? String(error)}${parts}`;
}

export function warn(logger: Logger | undefined, message: string): void {
  if (logger === undefined) console.warn(`merchant-payments: ${message}`);
  else writeLine(logger, 'warn', { fields: {}, message });
}

/** Calls `onError` and waits for it. If it fails, the reply stays the same. */
export async function report(
  onError: (error: unknown, callback?: VerifiedCallback) => unknown,
  error: unknown,
  callback?: VerifiedCallback,
): Promise<void> {
  try {
    const reported = callback === undefined ? onError(error) : onError(error, callback);
    await within(REPORT_TIMEOUT_MS, reported, () => undefined);
  } catch {}
}

/**
 * Reports why a request is not processed: a 500 or a 422 to `onError`, the rest, which anyone can cause, to `onRejected`.
 * A mistake that every request shows, such as a missing secret, is reported once a minute.
 */
export async function reportRefusal(
  { onError, onRejected }: Handlers,
  { status, error, limit }: { status: number; error: unknown; limit: OnceAMinute | undefined },
): Promise<void> {
  const isOurs = status === 500 && error instanceof MerchantPaymentsError;
  if (isOurs && limit !== undefined && limit.take(error.code) === undefined) return;
  if (status === 500 || status === 422) return report(onError, error);
  try {
    // An asynchronous one that rejects must not end the process: anyone could cause that.
    Promise.resolve(onRejected(error as CallbackVerificationError)).catch(() => undefined);
  } catch {}
}

interface Handlers {
  onError(error: unknown): unknown;
  onRejected(error: CallbackVerificationError): unknown;
}

const INTERVAL_MS = 60_000;

/** Limits what is written about events that anyone can cause repeatedly. */
export class OnceAMinute {
  readonly #last = new Map<string, { readonly atMs: number; skipped: number }>();

  /** How many events of this kind were skipped since the last one taken; `undefined` if this one is to be. */
  take(kind: string): number | undefined {
    const atMs = performance.now();
    const last = this.#last.get(kind);
    if (last !== undefined && atMs - last.atMs < INTERVAL_MS) {
      last.skipped += 1;
      return undefined;
    }
    this.#last.set(kind, { atMs, skipped: 0 });
    return last?.skipped ?? 0;
  }
}

const andBefore = (skipped: number): string => (skipped > 0 ? ` (and ${skipped} before it)` : '');

/** The default of `onRejected`: a wrong secret or clock shows at the first callback, but the log can't be flooded. */
export function createRejectionLog(): (error: CallbackVerificationError) => void {
  const limit = new OnceAMinute();
  return ({ code, message }) => {
    const skipped = limit.take(code);
    if (skipped === undefined) return;
    console.warn(
      `merchant-payments: a payment callback was refused${andBefore(skipped)}: ${code}: ${message}`,
    );
  };
}

const MAX_BUSY_CHANGES = 1_000;

/** The changes that were busy when they were last delivered to this process. */
export class BusyChanges {
  readonly #sinceMs = new Map<string, number>();

  /** Whether the change was already busy a minute ago. */
  isLong(key: string): boolean {
    const nowMs = performance.now();
    const sinceMs = this.#sinceMs.get(key);
    if (sinceMs !== undefined) return nowMs - sinceMs >= INTERVAL_MS;
    const [oldest] = this.#sinceMs.keys();
    if (this.#sinceMs.size >= MAX_BUSY_CHANGES) this.#sinceMs.delete(oldest as string);
    this.#sinceMs.set(key, nowMs);
    return false;
  }

  forget(key: string): void {
    if (this.#sinceMs.size > 0) this.#sinceMs.delete(key);
  }
}

/** @param skipped how many were not reported since the last one */
export function changeOverdue(skipped: number): RetryLaterError {
  return new RetryLaterError(
    `A change${andBefore(skipped)} is over ten minutes old, because its order is still busy. Find the onPayment that does not end, or the transaction left open`,
  );
}
