import { type Answer, describeAnswer, isAccepted, remedyOf } from './answer.js';

/** An option of `checkCallbackEndpoint` that a check needs, or that may make it pass. */
export type EndpointCheckOption =
  | 'countEffects'
  | 'effectCounts'
  | 'overtaking'
  | 'merchantPaymentReference'
  | 'signatureEncoding'
  | 'timestampUnit';

/** How a check ended. */
export interface CheckVerdict {
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly detail: string;
  /** The answer that decided. */
  readonly answer?: Answer | undefined;
  /** The option that a skipped check needs, or that may make a failed one pass. */
  readonly option?: EndpointCheckOption | undefined;
  /** The remedy, if it is more specific than that of the check. */
  readonly remedy?: string | undefined;
  /** A line to paste for it. */
  readonly paste?: string | undefined;
  /** Whether the failure loses no payment and pays none twice: other failures come first. */
  readonly isLesser?: boolean;
  /** Whether nothing else can be told: the rest is skipped. */
  readonly isFatal?: boolean;
}

/** A check that can't be made, for another reason than the endpoint's answer. The message is shown. */
export class CheckFailure extends Error {}

export const pass = (detail: string, answer?: Answer): CheckVerdict => ({
  outcome: 'passed',
  detail,
  answer,
});

export const fail = (detail: string, answer?: Answer): CheckVerdict => ({
  outcome: 'failed',
  detail,
  answer,
});

/** Makes a failure skip all other checks. */
export const fatal = (verdict: CheckVerdict): CheckVerdict =>
  verdict.outcome === 'failed' ? { ...verdict, isFatal: true } : verdict;

export const skip = (detail: string, option?: CheckVerdict['option']): CheckVerdict => ({
  outcome: 'skipped',
  detail,
  option,
});

const NO_ORDER = skip(
  'not judged: the endpoint answered 503 with Retry-After, as it should for an order that it does not know; give references of stored orders',
  'merchantPaymentReference',
);

/** Checks the answer to a callback that should be accepted. `what` was sent; it begins a sentence. */
export function checkAccepted(what: string, answer: Answer): CheckVerdict {
  const seen = `${what}: the endpoint ${describeAnswer(answer)}`;
  if (isAccepted(answer)) return pass(seen, answer);
  if (answer.mayLackOrder) return NO_ORDER;
  return { ...fail(seen, answer), remedy: remedyOf(answer) };
}

/** Checks the answer to a callback that should be refused. */
export function checkRefused(what: string, answer: Answer): CheckVerdict {
  const seen = `${what}: the endpoint ${describeAnswer(answer)}`;
  const { status = 0 } = answer;
  if (isAccepted(answer)) return fail(`${seen}, as if the service had sent it`, answer);
  // A rate limit says nothing about this callback.
  if (status >= 400 && status < 500 && status !== 429) return pass(seen, answer);
  const suffix = status >= 500 ? ', but it should have refused it with 401' : '';
  return { ...fail(seen + suffix, answer), remedy: remedyOf(answer), isLesser: status >= 500 };
}
