import {
  CallbackVerificationError,
  MerchantPaymentsError,
  RetryLaterError,
  StoreError,
} from '../errors.js';
import { causesOf, describeValue } from '../protocol/describe-value.js';
import type { ChangeResult } from '../store/callback-store.js';
import { UnreadableBody } from './body.js';
import { parkedBefore } from './kept-failures.js';

/** The result of a request to the callback endpoint. */
export type CallbackOutcome = 'processed' | 'duplicate' | 'busy' | 'rejected' | 'failed';

/** The answer to a request. */
export interface CallbackReply {
  /** HTTP status. */
  status: number;
  /** Headers to set; names in lower case. */
  headers: Record<string, string>;
  /** The result of the request. */
  outcome: CallbackOutcome;
  /** With `explainAnswers`, unless the change was processed: JSON with the code and the reason. */
  body?: string | undefined;
}

/** Its own body: Object.prototype may have another. */
export const bodyOf = (reply: Pick<CallbackReply, 'body'>): string | undefined =>
  Object.hasOwn(reply, 'body') ? reply.body : undefined;

/** What became of a delivery. */
export type DeliveryResult = { readonly outcome: 'processed' | 'duplicate' | 'busy' } | Failed;

/** A delivery that failed. */
export interface Failed {
  readonly outcome: undefined;
  readonly error: unknown;
  /** What `onPayment` threw to be called again later; an ORM or a store may have wrapped it. */
  readonly retryLater: RetryLaterError | undefined;
  /** Whether the change was parked before, so that the store did not run it. */
  readonly isParked: boolean;
  /** What the store did with the failure. */
  readonly kept: Pick<ChangeResult, 'parkedAfter' | 'notKept'>;
  /** What becomes of work that exceeded its time limit and continues. */
  readonly late?: Promise<DeliveryResult>;
}

export function toFailed(error: unknown, kept: Failed['kept'] = {}): Failed {
  const retryLater = [...causesOf(error)].find((cause) => cause instanceof RetryLaterError);
  return { outcome: undefined, error, retryLater, isParked: false, kept };
}

/**
 * Only a known outcome counts as success.
 *
 * @throws {StoreError} `CONTRACT_VIOLATION` when a merchant's own store returned anything else
 */
export function toDeliveryResult(result: ChangeResult): DeliveryResult {
  const { outcome } = result ?? {};
  switch (outcome) {
    case 'processed':
    case 'duplicate':
    case 'busy':
      return { outcome };
    case 'parked':
      return { ...toFailed(parkedBefore()), isParked: true };
    case 'failed':
      return toFailed(result.error, result);
    default:
      throw new StoreError(
        'CONTRACT_VIOLATION',
        `store.process must resolve with an object whose outcome is 'processed', 'duplicate', 'busy', 'parked' or 'failed'; received ${describeValue(outcome ?? result)}`,
      );
  }
}

/** The reply to a delivery. The service retries one that failed, unless its change is kept and parked. */
export function replyTo(result: DeliveryResult, isReplay: boolean): CallbackReply {
  const { outcome } = result;
  if (outcome === 'busy') return askToRetry();
  if (outcome !== undefined) return { status: 200, headers: {}, outcome };
  const { retryLater, isParked, kept } = result;
  if (retryLater !== undefined) return askToRetry(retryLater.retryAfterSeconds);
  const isKept = isParked || kept.parkedAfter !== undefined;
  // A replay's caller must learn that it failed.
  return isKept && !isReplay ? { status: 200, headers: {}, outcome: 'failed' } : fail();
}

/** The service's retry schedule is not known; after one second a retry may succeed. */
function askToRetry(afterSeconds = 1): CallbackReply {
  return { status: 503, headers: { 'retry-after': String(afterSeconds) }, outcome: 'busy' };
}

export function fail(): CallbackReply {
  return { status: 500, headers: {}, outcome: 'failed' };
}

export function reject(status: 400 | 401 | 405 | 408 | 413 | 422): CallbackReply {
  return { status, headers: status === 405 ? { allow: 'POST' } : {}, outcome: 'rejected' };
}

/** The reply to a request that is no callback to process. */
export function refuse(error: unknown): CallbackReply {
  if (error instanceof UnreadableBody) return reject(error.status);
  if (!(error instanceof CallbackVerificationError) || error.code === 'RAW_BODY_REQUIRED') {
    return fail();
  }
  return reject(error.code === 'INVALID_RECORD' ? 422 : 401);
}

interface Reason {
  readonly code: string;
  readonly message: string;
}

export const WRONG_METHOD: Reason = {
  code: 'METHOD_NOT_ALLOWED',
  message: 'A callback is sent by POST',
};

const BUSY: Reason = {
  code: 'BUSY',
  message: 'Another delivery of this payment is being processed',
};

/** Why a change was not processed; undefined if it was. */
export function reasonOf(result: DeliveryResult): Reason | undefined {
  if (result.outcome === undefined) return reasonOfError(result.retryLater ?? result.error);
  return result.outcome === 'busy' ? BUSY : undefined;
}

/** Only errors of this package hold no secret. The message of another may name a driver's password. */
export function reasonOfError(error: unknown): Reason {
  if (error instanceof MerchantPaymentsError) return error;
  const name = error instanceof Error ? error.name : 'what is no Error';
  return {
    code: 'PROCESSING_FAILED',
    message: `onPayment or the store threw ${name}; see onError`,
  };
}

/** Adds the code and the reason to a reply, if `explainAnswers` asks for them. */
export function explain(
  { explainAnswers }: { readonly explainAnswers: boolean },
  reply: CallbackReply,
  reason: Reason | undefined,
): CallbackReply {
  if (!explainAnswers || reason === undefined) return reply;
  const { code, message } = reason;
  const headers = { ...reply.headers, 'content-type': 'application/json' };
  return { ...reply, headers, body: JSON.stringify({ code, message }) };
}
