import { CallbackVerificationError, MerchantPaymentsError } from '../errors.js';
import { UnreadableBody } from './body.js';
import type { Delivered } from './delivery.js';
import { changeIsParked } from './kept-failures.js';

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

/** The reply to a delivery. The service retries one that failed, unless its change is kept and parked. */
export function replyTo(delivered: Delivered, isReplay: boolean): CallbackReply {
  switch (delivered.outcome) {
    case 'busy':
      return askToRetry();
    case 'failed': {
      const { retryLater, parkedAfter } = delivered;
      if (retryLater !== undefined) return askToRetry(retryLater.retryAfterSeconds);
      return parkedAfter === undefined ? fail() : replyToParked(isReplay);
    }
    case 'parked':
      return replyToParked(isReplay);
    default:
      return { status: 200, headers: {}, outcome: delivered.outcome };
  }
}

/** A replay's caller must learn that it failed. */
const replyToParked = (isReplay: boolean): CallbackReply =>
  isReplay ? fail() : { status: 200, headers: {}, outcome: 'failed' };

/** The service's retry schedule is not known; after one second a retry may succeed. */
function askToRetry(afterSeconds = 1): CallbackReply {
  return { status: 503, headers: { 'retry-after': String(afterSeconds) }, outcome: 'busy' };
}

export const fail = (): CallbackReply => ({ status: 500, headers: {}, outcome: 'failed' });

export const reject = (status: 400 | 401 | 405 | 408 | 413 | 422): CallbackReply => ({
  status,
  headers: status === 405 ? { allow: 'POST' } : {},
  outcome: 'rejected',
});

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

/** Why a change was not processed; undefined if it was. */
export function reasonOf(delivered: Delivered): Reason | undefined {
  if (delivered.outcome === 'failed') return reasonOfError(delivered.retryLater ?? delivered.error);
  if (delivered.outcome === 'parked') return changeIsParked();
  const message = 'Another delivery of this payment is being processed';
  return delivered.outcome === 'busy' ? { code: 'BUSY', message } : undefined;
}

/** Only errors of this package hold no secret. The message of another may name a driver's password. */
export function reasonOfError(error: unknown): Reason {
  if (error instanceof MerchantPaymentsError) return error;
  const name = error instanceof Error ? error.name : 'what is no Error';
  const message = `onPayment or the store threw ${name}; see onError`;
  return { code: 'PROCESSING_FAILED', message };
}

/** Adds the code and the reason to a reply, for `explainAnswers`. */
export function explained(reply: CallbackReply, reason: Reason | undefined): CallbackReply {
  if (reason === undefined) return reply;
  const { code, message } = reason;
  const headers = { ...reply.headers, 'content-type': 'application/json' };
  return { ...reply, headers, body: JSON.stringify({ code, message }) };
}
