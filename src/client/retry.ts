import type { RequestOutcome, ResponseHeaders } from '../errors.js';

/** What an error tells the caller about the outcome and the next step. */
export interface CallOutcome {
  readonly requestOutcome: RequestOutcome;
  readonly safeToRetry: boolean;
}

/** Of a success, or of what follows one: what was accepted must not be sent again. */
export const ACCEPTED: CallOutcome = { requestOutcome: 'accepted', safeToRetry: false };

export interface FailedAttempt {
  /** What is known after this attempt alone. */
  readonly outcome: RequestOutcome;
  /** Whether the method is safe: it creates nothing at the service, however often it is sent. */
  readonly safe: boolean;
  readonly httpStatus?: number | undefined;
  /** Whether it is a 2xx whose body did not arrive completely. */
  readonly bodyLost?: boolean;
  /** The deadline passed, the caller's signal was aborted, or the client was closed. */
  readonly gaveUp: boolean;
  readonly retryAfterSeconds: number | undefined;
}

export interface RetrySituation {
  /** Requests sent so far, from 1. */
  readonly attempt: number;
  readonly maxRetries: number;
  /** Whether the service has promised to recognise a repetition of this request. */
  readonly mayRepeat: boolean;
  readonly remainingMs: number;
  readonly random: number;
}

const BASE_DELAY_MS = 250;
const MAX_DELAY_MS = 8_000;

/** How long to wait before the retry, in milliseconds; undefined when there must be none. */
export function decideRetry(failed: FailedAttempt, situation: RetrySituation): number | undefined {
  if (!mayRetry(failed, situation)) return undefined;
  const delayMs = Math.max(
    backoffMs(situation.attempt, situation.random),
    // A timer drops the fraction of a millisecond, and would end too early.
    Math.ceil((failed.retryAfterSeconds ?? 0) * 1000),
  );
  // A wait that ends after the deadline would only hide the real failure behind a timeout.
  return delayMs < situation.remainingMs ? delayMs : undefined;
}

function mayRetry(failed: FailedAttempt, situation: RetrySituation): boolean {
  // Zero retries mean one request.
  if (situation.attempt > situation.maxRetries) return false;
  // No time is left, or the caller no longer waits.
  if (failed.gaveUp || !canSucceedLater(failed)) return false;
  // It may have created a payment. A retry is safe only if the service recognises repetitions, which the
  // interface does not promise: the user has to say so.
  if (failed.outcome === 'unknown') return failed.safe || situation.mayRepeat;
  // After 'accepted' the payment exists, and only a safe method can be repeated. Otherwise nothing reached the service,
  // or it refused the request: no payment was created.
  return failed.outcome !== 'accepted' || failed.safe;
}

/**
 * Whether the same call may be made again: it can't create a second payment, and it can succeed.
 *
 * @param known - what is known after all attempts of the call
 */
export function isSafeToRetry(failed: FailedAttempt, known: RequestOutcome): boolean {
  if (!canSucceedLater(failed)) return false;
  // Regardless of `idempotency`: the caller's next attempt may be another request, with another reference, which the
  // service would not recognise.
  return failed.safe || known === 'not-sent' || known === 'rejected';
}

/** Whether another attempt of the same request can end differently. */
function canSucceedLater({ outcome, httpStatus, bodyLost }: FailedAttempt): boolean {
  // A 4xx means a faulty request, except 429: that one was only too early.
  if (outcome === 'rejected') return httpStatus === 429;
  // A body that is too large or fails the user's schema would be the same next time.
  if (outcome === 'accepted') return bodyLost === true;
  // The same request would be redirected again.
  return !(httpStatus !== undefined && httpStatus >= 300 && httpStatus < 400);
}

// Full jitter, so that callers that failed together do not retry together.
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

const SECONDS = /^-?(?:\d+(?:\.\d*)?|\.\d+)$/;

/**
 * Reads Retry-After, a number of seconds or an HTTP date, as seconds from now, rounded up to milliseconds. A date is
 * measured from the answer's Date, since the service's clock may differ from this machine's.
 */
export function parseRetryAfter(
  headers: Partial<ResponseHeaders>,
  nowMs: number,
): number | undefined {
  const wait = textOf(headers['retry-after']);
  if (SECONDS.test(wait)) {
    const seconds = Math.ceil(Number(wait) * 1000) / 1000;
    // Anything longer counts as forever; infinity would become null in JSON.
    return Math.max(0, Math.min(seconds, Number.MAX_SAFE_INTEGER));
  }
  const fromMs = parseHttpDate(textOf(headers['date'])) ?? nowMs;
  const dateMs = parseHttpDate(wait);
  return dateMs === undefined ? undefined : Math.max(0, Math.ceil((dateMs - fromMs) / 1000));
}

// A header that comes twice is joined, as fetch does: the result is neither a number nor a date.
const textOf = (header: string | string[] | undefined): string => [header].flat().join(', ').trim();

function parseHttpDate(text: string): number | undefined {
  // An HTTP date begins with the name of a day; Date.parse alone would take "-1" for a year.
  const dateMs = /^[A-Z][a-z]{2}/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(dateMs) ? undefined : dateMs;
}
