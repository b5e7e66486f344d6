import type { EffectJudgement } from './effect-probe.js';
import type { CheckedPayment } from './payment.js';
import { describeCount } from './stage.js';
import { fail, pass } from './verdict.js';

/** For a payment that is to have had one effect. `what` was delivered. */
export function judgeOneEffect(payment: CheckedPayment, what: string): EffectJudgement {
  return async (probe) => {
    const count = await probe.ask(payment);
    const seen = `${probe.name} told ${describeCount(count)} of ${what}`;
    return count.effects === 1 ? pass(seen) : fail(`${seen}, but 1 was expected`);
  };
}
