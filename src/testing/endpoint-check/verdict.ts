import type { Answer } from './endpoint.js';
import type { CheckedPayment } from './payment.js';

/** What became of a check. */
export interface CheckVerdict {
  readonly outcome: 'passed' | 'failed' | 'skipped';
  readonly detail: string;
  /** The answer that decided. */
  readonly answer?: Answer | undefined;
  readonly payments?: readonly CheckedPayment[];
}

/** A check that can't be made, for a reason that is not the endpoint's answer. Its text is shown. */
export class CheckFailure extends Error {}

export function pass(detail: string, answer?: Answer): CheckVerdict {
  return { outcome: 'passed', detail, answer };
}

export function fail(detail: string, answer?: Answer): CheckVerdict {
  return { outcome: 'failed', detail, answer };
}

export function skip(detail: string): CheckVerdict {
  return { outcome: 'skipped', detail };
}

export function isAccepted({ status }: Answer): boolean {
  return status !== undefined && status >= 200 && status < 300;
}

export function describeAnswer({ status, failure }: Answer): string {
  return status === undefined ? `gave no answer (${failure})` : `answered ${status}`;
}

/** For a callback that is to be accepted. `what` was sent, as the beginning of a sentence. */
export function judgeAccepted(what: string, answer: Answer): CheckVerdict {
  const seen = `${what}: the endpoint ${describeAnswer(answer)}`;
  if (isAccepted(answer)) return pass(seen, answer);
  const { status = 0 } = answer;
  if (status >= 300 && status < 400)
    return fail(`${seen}, a redirect, which is not followed`, answer);
  if (status === 429) return fail(`${seen}, a limit on requests`, answer);
  return fail(`${seen}, so the service would deliver it again and again`, answer);
}

/** For a callback that is to be refused. */
export function judgeRefused(what: string, answer: Answer): CheckVerdict {
  const seen = `${what}: the endpoint ${describeAnswer(answer)}`;
  const { status } = answer;
  if (status === undefined) {
    return fail(`${seen}, so whoever sends such a request can make it fall over`, answer);
  }
  if (isAccepted(answer)) return fail(`${seen}, so it took it for the service's`, answer);
  if (status >= 500) {
    return fail(`${seen}: it fell over what it should have refused with 401`, answer);
  }
  if (status < 400) return fail(`${seen}, which is no refusal; 401 is one`, answer);
  // From a limit on requests nothing can be told about this one.
  if (status === 429) return fail(`${seen}, a limit on requests; lift it for this run`, answer);
  return pass(seen, answer);
}
