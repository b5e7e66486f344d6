import { describeAnswer, isAccepted } from './answer.js';
import type { SignedRequest } from './callbacks.js';
import { checkTexts } from './check-texts.js';
import { judgeEffectCount } from './effect-probe.js';
import type { CheckedPayment } from './options.js';
import type { Findings, Scenario, Stage } from './stage.js';
import { CheckFailure, type CheckVerdict, fail, judgeAccepted, pass, skip } from './verdict.js';

/** Only with the option: an endpoint that needs no order may accept such a callback. */
export const overtaking: Scenario = {
  ids: ['overtaking', 'overtaking-redelivery', 'overtaking-effect'],
  async run(stage) {
    const { overtaking: option } = stage.options;
    const all = (verdict: CheckVerdict) => ({
      overtaking: verdict,
      'overtaking-redelivery': verdict,
      'overtaking-effect': verdict,
    });
    if (option === false) {
      return all(skip('not tried: it needs the option overtaking', 'overtaking'));
    }
    const payment = await stage.createPayment({ unstored: true });
    const request = stage.sign(payment);
    const answer = await stage.deliver(request);
    const seen = `a callback whose order is not stored: the endpoint ${describeAnswer(answer)}`;
    if (isAccepted(answer)) {
      const verdict = fail(`${seen}, so the service does not send it again`, answer);
      return { ...all(skip('not tried: the callback was acknowledged')), overtaking: verdict };
    }
    const { status = 0 } = answer;
    // The service retries anything but a success (interface section 6). Redirects are not specified.
    const verdict = status >= 400 ? pass(seen, answer) : fail(seen, answer);
    if (option === true) {
      const why =
        'not tried: it needs a function that stores the order, as the option overtaking of checkCallbackEndpoint';
      return {
        overtaking: verdict,
        'overtaking-redelivery': skip(why),
        'overtaking-effect': judgeEffectCount(payment, 0, 'a callback that was not acknowledged'),
      };
    }
    return { overtaking: verdict, ...(await redeliver(stage, payment, request)) };
  },
};

async function redeliver(
  stage: Stage,
  payment: CheckedPayment,
  request: SignedRequest,
): Promise<Findings> {
  try {
    await stage.storeOrder(payment);
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    return {
      'overtaking-redelivery': fail(error.message),
      'overtaking-effect': skip('not tried: the order was not stored'),
    };
  }
  const answer = await stage.deliverUntilAccepted(request);
  const { fix } = checkTexts['overtaking-effect'];
  return {
    'overtaking-redelivery': judgeAccepted('the callback, once its order was stored', answer),
    'overtaking-effect': isAccepted(answer)
      ? judgeEffectCount(payment, 1, 'a callback that overtook its order', fix)
      : skip('not tried: the callback was never acknowledged'),
  };
}
