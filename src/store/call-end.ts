import type { CreatePaymentResult } from '../client/response.js';
import { type ApiError, MerchantPaymentsError, ResponseError } from '../errors.js';
import type { Claim, PaymentRow, Result, StoredForms } from './payment-row.js';
import { readBody, toServiceRecord } from './records.js';
import { NOTHING_SAID } from './steps.js';
import type { SendFailure } from './stored-payment.js';

// What the end of a call of the client says of its payment.

export interface CallEnd {
  readonly result: Result;
  /** The error to return together with what is stored. */
  readonly error?: MerchantPaymentsError;
  /** The error to throw instead. */
  readonly thrown?: unknown;
}

export function ofAnswer(
  payment: CreatePaymentResult['payment'],
  { body }: PaymentRow,
  forms: StoredForms,
): CallEnd {
  const { merchantPaymentReference } = readBody(body).input;
  // The answer to another request, for example because of a faulty proxy. With its number, ours would become a second
  // payment.
  if (![undefined, merchantPaymentReference].includes(payment.merchantPaymentReference)) {
    const error = new ResponseError(ANSWER_TO_ANOTHER, {
      requestOutcome: 'unknown',
      safeToRetry: false,
    });
    return { result: { state: 'unresolved', failure: JSON.stringify(toFailure(error)) }, error };
  }
  const serviceRecord = toServiceRecord({ merchantPaymentReference, ...payment }, forms);
  // The payment's first record: any callback is newer, whatever the clocks of the service say.
  return {
    result: { state: 'created', serviceRecord: { ...serviceRecord, updatedAtUs: undefined } },
  };
}

const ANSWER_TO_ANOTHER =
  'The service answered with a payment of another merchantPaymentReference: do not send again, wait for the callback, and look for a proxy that mixes up answers';

/** The errors of the service and the network. Wrong credentials are the caller's, and would fail every payment. */
const RETURNED = ['API_ERROR', 'CONNECTION_FAILED', 'TIMEOUT', 'RESPONSE_UNUSABLE'];

export function ofError(
  error: unknown,
  { allowsRejected, isRepetition }: Pick<Claim, 'allowsRejected' | 'isRepetition'>,
): CallEnd {
  const isOurs = error instanceof MerchantPaymentsError;
  const answer = toFailure(error);
  const { code, requestOutcome } = answer;
  const failure = JSON.stringify(answer);
  if (requestOutcome === 'accepted' && isOurs) {
    return { result: { state: 'created', serviceRecord: NOTHING_SAID, failure }, error };
  }
  const mayBeSentAgain =
    requestOutcome === 'not-sent' ||
    // A 429, even if the client's own retry of it was not sent.
    (isOurs && error.safeToRetry === true) ||
    // Keep it until the cause is fixed: in recover(), no caller would send it again.
    (!allowsRejected && !isRefusal(answer));
  // A reference in use may mean that an earlier attempt, or another program, has created the payment. Nor does the
  // refusal of a repetition say that the attempts before it have created nothing. Were it rejected, it could be
  // corrected, and the service would not recognise another body: that makes a second payment.
  const isInDoubt = requestOutcome === 'unknown' || isConflict(answer) || isRepetition;
  const state = isInDoubt ? 'unresolved' : mayBeSentAgain ? 'recorded' : 'rejected';
  const isReturned = isOurs && (requestOutcome === 'unknown' || RETURNED.includes(code));
  return { result: { state, failure }, ...(isReturned ? { error } : { thrown: error }) };
}

/** Without the message, which may quote the service, for example about a customer. */
export function toFailure(error: unknown): SendFailure {
  const isOurs = error instanceof MerchantPaymentsError;
  const { httpStatus, serviceCode } = (isOurs ? error : {}) as Partial<ApiError>;
  return {
    code: isOurs ? error.code : 'UNKNOWN',
    serviceCode,
    requestOutcome: (isOurs && error.requestOutcome) || 'unknown',
    httpStatus,
  };
}

const CONFLICT = 409;
const TOO_MANY = 429;
const OF_CLIENT: ReadonlySet<unknown> = new Set([401, 403, 404, 405]);

type Answer = Pick<SendFailure, 'httpStatus' | 'serviceCode'>;

/** Whether the service says that the reference is in use, or, by its key, that an earlier request is under way. */
export const isConflict = ({ httpStatus }: Answer): boolean => httpStatus === CONFLICT;

/** Whether no payment would be accepted now: the client is refused, or has sent too many. */
export const refusesAll = ({ httpStatus }: Answer): boolean =>
  httpStatus === TOO_MANY || OF_CLIENT.has(httpStatus);

/**
 * Whether the service itself refused this payment: the answer has an error code (interface section 2.3). An
 * answer without one, or that only repeats its status, may come from a proxy, which refuses every payment.
 */
export function isRefusal({ httpStatus, serviceCode }: Answer): boolean {
  if (OF_CLIENT.has(httpStatus)) return false;
  return serviceCode !== undefined && serviceCode !== String(httpStatus);
}

/** Whether the service itself refused the last attempt, and would refuse the next one too. */
export function wasRefused(failure: string | undefined): boolean {
  if (failure === undefined) return false;
  const answer = JSON.parse(failure) as SendFailure;
  const isFinal = answer.requestOutcome === 'rejected' && !isConflict(answer);
  return isFinal && !refusesAll(answer) && isRefusal(answer);
}
