/** How the endpoint answered. */
export interface Answer {
  /** HTTP status; absent without a complete answer. */
  readonly status?: number;
  /** Why there is none. */
  readonly failure?: string;
  readonly latencyMs: number;
  /** Epoch milliseconds. */
  readonly sentAtMs: number;
  readonly answeredAtMs: number;
  /** The `Date` header. */
  readonly date?: string | undefined;
}

/** How a check ended. */
export interface CheckVerdict {
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly detail: string;
  /** The answer that decided. */
  readonly answer?: Answer | undefined;
  /** The option that a skipped check needs. */
  readonly option?: 'countEffects' | 'overtaking' | 'merchantPaymentReference' | undefined;
}

/** A check that can't be made, for a reason that is not the endpoint's answer. Its text is shown. */
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

export const skip = (detail: string, option?: CheckVerdict['option']): CheckVerdict => ({
  outcome: 'skipped',
  detail,
  option,
});

export const isAccepted = ({ status = 0 }: Answer): boolean => status >= 200 && status < 300;

export const describeAnswer = ({ status, failure }: Answer): string =>
  status === undefined ? `gave no answer (${failure})` : `answered ${status}`;

/** For a callback that is to be accepted. `what` was sent, as the beginning of a sentence. */
export function judgeAccepted(what: string, answer: Answer): CheckVerdict {
  const seen = `${what}: the endpoint ${describeAnswer(answer)}`;
  if (isAccepted(answer)) return pass(seen, answer);
  const { status = 0 } = answer;
  if (status >= 300 && status < 400) {
    return fail(`${seen}, a redirect, which is not followed`, answer);
  }
  if (status === 429) return fail(`${seen}, a rate limit`, answer);
  return fail(`${seen}, so the service would retry again and again`, answer);
}

/** For a callback that is to be refused. */
export function judgeRefused(what: string, answer: Answer): CheckVerdict {
  const seen = `${what}: the endpoint ${describeAnswer(answer)}`;
  const { status } = answer;
  if (status === undefined) return fail(`${seen}, so such a request may crash it`, answer);
  if (isAccepted(answer)) return fail(`${seen}, as if the service had sent it`, answer);
  if (status >= 500) {
    return fail(`${seen}: it failed on what it should have refused with 401`, answer);
  }
  if (status < 400) return fail(`${seen}, which is not a refusal; 401 is`, answer);
  // A rate limit says nothing about this callback.
  if (status === 429) return fail(`${seen}, a rate limit; lift it for this run`, answer);
  return pass(seen, answer);
}
