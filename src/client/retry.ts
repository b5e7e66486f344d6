import type { RequestOutcome } from '../errors.js';

/** What the retry decision looks at. */
export interface FailedAttempt {
  /** What is known after this attempt alone. */
  readonly outcome: RequestOutcome;
  /** Status of the answer, when one came. */
  readonly httpStatus: number | undefined;
  /** The deadline passed or the caller's signal was aborted. */
  readonly gaveUp: boolean;
  readonly retryAfterSeconds: number | undefined;
}

export interface RetrySituation {
  /** Requests sent so far, from 1. */
  readonly attempt: number;
  readonly maxRetries: number;
  readonly retryUnknownOutcome: boolean;
  readonly remainingMs: number;
  /** From 0 to below 1. */
  readonly random: number;
}

const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;

/** How long to wait before the request is sent again, in milliseconds; nothing when it must not be. */
export function decideRetry(failed: FailedAttempt, situation: RetrySituation): number | undefined {
  if (!mayRetry(failed, situation)) return undefined;
  const delayMs = Math.max(
    backoffMs(situation.attempt, situation.random),
    (failed.retryAfterSeconds ?? 0) * 1000,
  );
  // A wait that ends after the deadline would only hide the real failure behind a timeout.
  return delayMs < situation.remainingMs ? delayMs : undefined;
}

function mayRetry(failed: FailedAttempt, situation: RetrySituation): boolean {
  // Zero retries mean one request.
  if (situation.attempt > situation.maxRetries) return false;
  // The time or the caller's patience is spent.
  if (failed.gaveUp) return false;
  // No byte of it reached the service: no payment can come of it twice.
  if (failed.outcome === 'not-sent') return true;
  // The service turned it away and asks to come again: it did not create a payment.
  if (failed.httpStatus === 429) return true;
  // It may have created a payment. Only a service that tells duplicates apart makes this safe,
  // which the interface does not promise, so it takes the user's word.
  if (failed.outcome === 'unknown') return situation.retryUnknownOutcome;
  // `accepted`: the payment exists. `rejected`: the same request would be rejected again.
  return false;
}

// Full jitter: callers that failed together do not come back together.
function backoffMs(attempt: number, random: number): number {
  return random * Math.min(MAX_DELAY_MS, BASE_DELAY_MS * 2 ** (attempt - 1));
}

// From "nothing can have happened" to "it has happened".
const CERTAINTY: readonly RequestOutcome[] = ['not-sent', 'rejected', 'unknown', 'accepted'];

/**
 * What is known after two attempts of one call. An attempt that was not sent says nothing about
 * an earlier one that may have been processed.
 */
export function combineOutcomes(earlier: RequestOutcome, latest: RequestOutcome): RequestOutcome {
  const certainty = Math.max(CERTAINTY.indexOf(earlier), CERTAINTY.indexOf(latest));
  return CERTAINTY[certainty] as RequestOutcome;
}

const SECONDS = /^\d+$/;

/** Reads Retry-After as seconds from now: a number of them, or an HTTP date. */
export function parseRetryAfter(
  value: string | string[] | undefined,
  nowMs: number,
): number | undefined {
  if (typeof value !== 'string') return undefined;
  const text = value.trim();
  // More than that is for ever; infinity would become null in JSON.
  if (SECONDS.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  // An HTTP date begins with the name of a day; Date.parse alone would take "-1" for a year.
  const dateMs = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : Math.max(0, Math.ceil((dateMs - nowMs) / 1000));
}
