import type { RequestOutcome } from '../errors.js';

/** What one failed attempt says of the call. */
export interface AttemptOutcome {
  /** What is known after this attempt alone. */
  readonly outcome: RequestOutcome;
  /** Whether the method is safe: it creates nothing at the service, however often it is sent. */
  readonly safe: boolean;
  /** Status of the answer, when there was one. */
  readonly httpStatus?: number | undefined;
  /** A 2xx whose body did not arrive whole. */
  readonly bodyLost?: boolean;
}

/** What an error of a call says of what may be done next. */
export interface Verdict {
  readonly requestOutcome: RequestOutcome;
  readonly safeToRetry: boolean;
}

/** What the retry decision looks at. */
export interface FailedAttempt extends AttemptOutcome {
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
  if (!canSucceedLater(failed)) return false;
  // It may have created a payment. Only a service that recognises duplicates makes this safe,
  // which the interface does not promise, so it takes the user's word.
  if (failed.outcome === 'unknown') return failed.safe || situation.retryUnknownOutcome;
  // The payment exists; what a safe method asked for can be asked again.
  if (failed.outcome === 'accepted') return failed.safe;
  // Nothing reached the service, or it turned the request away: no payment was created.
  return true;
}

/**
 * Whether the same call may be made again: it can't create a second payment, and it can succeed.
 *
 * @param known - what is known after all attempts of the call
 */
export function isSafeToRetry(failed: AttemptOutcome, known: RequestOutcome): boolean {
  if (!canSucceedLater(failed)) return false;
  // Not even with `retryUnknownOutcome`: whether the service recognises duplicates is the user's
  // knowledge, and this says what the client knows.
  return failed.safe || known === 'not-sent' || known === 'rejected';
}

/** Whether another attempt of the same request may end otherwise. */
function canSucceedLater({ outcome, httpStatus, bodyLost }: AttemptOutcome): boolean {
  // A 4xx says what is wrong with the request, but 429 only that it was too early.
  if (outcome === 'rejected') return httpStatus === 429;
  // A body that is too large, or fails the user's schema, would be the same again.
  if (outcome === 'accepted') return bodyLost === true;
  // The same request is redirected again.
  return !(httpStatus !== undefined && httpStatus >= 300 && httpStatus < 400);
}

// Full jitter: callers that failed together do not retry together.
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
// fetch joins what was sent twice. A date has a comma of its own, before its day.
const BETWEEN_VALUES = /, (?!\d\d[ -])/;

/**
 * Reads Retry-After as seconds from now: a number of them, or an HTTP date. Of several the longest, as
 * when a proxy adds its own to that of the service.
 */
export function parseRetryAfter(
  value: string | string[] | undefined,
  nowMs: number,
): number | undefined {
  let longest = -1;
  for (const text of [value].flat().join(', ').split(BETWEEN_VALUES)) {
    longest = Math.max(longest, parseWait(text.trim(), nowMs));
  }
  return longest < 0 ? undefined : longest;
}

/** Seconds from now; negative for what is neither a number of them nor a date. */
function parseWait(text: string, nowMs: number): number {
  // More than that is for ever; infinity would become null in JSON.
  if (SECONDS.test(text)) return Math.min(Number(text), Number.MAX_SAFE_INTEGER);
  // An HTTP date begins with the name of a day; Date.parse alone would take "-1" for a year.
  if (!/^[A-Z][a-z]{2}/.test(text)) return -1;
  // The date of asctime names no zone and is in GMT all the same (RFC 9110, section 5.6.7).
  const dateMs = Date.parse(text.replace(/ [\d:]+$/, '$& GMT'));
  return Number.isNaN(dateMs) ? -1 : Math.max(0, Math.ceil((dateMs - nowMs) / 1000));
}
