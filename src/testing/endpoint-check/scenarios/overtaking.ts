import type { EffectJudgement } from '../effect-probe.js';
import { judgeOneEffect } from '../one-effect.js';
import { type CheckedPayment, createRecord } from '../payment.js';
import { deliverUntilAccepted } from '../redelivery.js';
import { defineScenario, type Scenario } from '../scenario.js';
import type { SignedRequest } from '../signer.js';
import { describeCount, type Stage } from '../stage.js';
import {
  CheckFailure,
  type CheckVerdict,
  describeAnswer,
  fail,
  isAccepted,
  judgeAccepted,
  pass,
  skip,
} from '../verdict.js';

const REMEDY =
  "Store the order before the payment is created, and look at what your UPDATE met: if it met no row, throw new RetryLaterError('order not stored yet'), which callbackHandler answers with 503.";

/** Not without the option: an endpoint that needs no order is right to accept such a callback. */
export const overtaking: Scenario = defineScenario({
  checks: {
    overtaking: {
      title: 'Does not acknowledge a callback whose order is not stored',
      why: 'A callback may overtake the transaction that stores its order. After a 2xx the service does not send it again: the payment is lost.',
      remedy: REMEDY,
    },
    'overtaking-redelivery': {
      title: 'Acknowledges that callback once its order is stored',
      why: 'The service retries until it receives a 2xx: this is how the payment reaches the order.',
      remedy: `Remember a change as processed only when its work is done, in the same transaction. ${REMEDY}`,
    },
  },
  effects: {
    'overtaking-effect': {
      title: 'Acts once on a callback that overtook its order',
      why: 'What is done before the order is known is done again for the retry, or is remembered as done and never is.',
      remedy: `Look the order up before anything else, and undo everything when it is not there. ${REMEDY}`,
    },
  },
  async run(stage) {
    if (stage.options.overtaking === false) {
      return all(skip('not tried: it needs the option overtaking'));
    }
    const payment = await stage.createPayment({ unstored: true });
    const request = stage.signer.sign(createRecord(payment));
    const answer = await stage.deliver(request);
    const refusal = `a callback whose order is not stored: the endpoint ${describeAnswer(answer)}`;
    if (isAccepted(answer)) {
      const verdict = fail(`${refusal}, so the service does not send it again`, answer);
      return { ...all(skip('not tried: the callback was acknowledged')), overtaking: verdict };
    }
    const { status = 0 } = answer;
    // Whatever is no success is retried (interface section 6); a redirect is not said to be either.
    const verdict = status >= 400 ? pass(refusal, answer) : fail(refusal, answer);
    return { overtaking: verdict, ...(await redeliver(stage, payment, request)) };
  },
});

const all = (verdict: CheckVerdict) => ({
  overtaking: verdict,
  'overtaking-redelivery': verdict,
  'overtaking-effect': verdict,
});

async function redeliver(
  stage: Stage,
  payment: CheckedPayment,
  request: SignedRequest,
): Promise<{
  'overtaking-redelivery': CheckVerdict;
  'overtaking-effect': CheckVerdict | EffectJudgement;
}> {
  if (stage.options.overtaking === true) {
    return {
      'overtaking-redelivery': skip('not tried: overtaking is no function that stores the order'),
      'overtaking-effect': judgeNoEffect(payment),
    };
  }
  try {
    await stage.storeOrder(payment);
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    return {
      'overtaking-redelivery': fail(error.message),
      'overtaking-effect': skip('not tried: the order was not stored'),
    };
  }
  const answer = await deliverUntilAccepted(stage, request);
  return {
    'overtaking-redelivery': judgeAccepted('the callback, once its order was stored', answer),
    'overtaking-effect': isAccepted(answer)
      ? judgeOneEffect(payment, 'a callback that overtook its order')
      : skip('not tried: the callback was never acknowledged'),
  };
}

function judgeNoEffect(payment: CheckedPayment): EffectJudgement {
  return async (probe) => {
    const count = await probe.ask(payment);
    const seen = `${probe.name} told ${describeCount(count)} of a callback that was not acknowledged`;
    return count.effects === 0 ? pass(seen) : fail(`${seen}, but 0 was expected`);
  };
}
