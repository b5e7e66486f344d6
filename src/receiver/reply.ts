import { StoreError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import type { ChangeOutcome } from '../store/callback-store.js';

/** The result of a request to the callback endpoint. */
export type CallbackOutcome = 'processed' | 'duplicate' | 'stale' | 'busy' | 'rejected' | 'failed';

/** The answer to a request. It has no body: the status says everything. */
export interface CallbackReply {
  /** HTTP status. */
  status: number;
  /** Headers to set; names in lower case. */
  headers: Record<string, string>;
  /** The result of the request. */
  outcome: CallbackOutcome;
}

/** `failed` is for a change that is kept and parked. */
export function acknowledge(
  outcome: 'processed' | 'duplicate' | 'stale' | 'failed',
): CallbackReply {
  return { status: 200, headers: {}, outcome };
}

/** The service's retry schedule is not known; after one second a retry may succeed. */
export function askToRetry(afterSeconds = 1): CallbackReply {
  return { status: 503, headers: { 'retry-after': String(afterSeconds) }, outcome: 'busy' };
}

export function reject(status: 400 | 401 | 405 | 408 | 413 | 422): CallbackReply {
  return { status, headers: status === 405 ? { allow: 'POST' } : {}, outcome: 'rejected' };
}

export function fail(): CallbackReply {
  return { status: 500, headers: {}, outcome: 'failed' };
}

/** The reply to a change that the store took, or found that it must wait. */
export function replyTo(outcome: ChangeOutcome): CallbackReply {
  return outcome === 'busy' ? askToRetry() : acknowledge(outcome);
}

const OUTCOMES: readonly unknown[] = [
  'processed',
  'duplicate',
  'stale',
  'busy',
] satisfies ChangeOutcome[];

/**
 * Only a known outcome counts as success.
 *
 * @throws {StoreError} `CONTRACT_VIOLATION` when a merchant's own store returned anything else
 */
export function assertOutcome(outcome: ChangeOutcome): ChangeOutcome {
  if (OUTCOMES.includes(outcome)) return outcome;
  throw new StoreError(
    'CONTRACT_VIOLATION',
    `store.process must resolve with 'processed', 'duplicate', 'stale' or 'busy'; received ${describeValue(outcome)}`,
  );
}
