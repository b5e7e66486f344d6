import { randomUUID } from 'node:crypto';
import { describeAnswer, isAccepted } from './answer.js';
import { checkTexts } from './check-texts.js';
import { callOption, judgeEffectCount } from './effect-probe.js';
import type { SignedRequest } from './endpoint.js';
import type { CheckedPayment, ResolvedCheckOptions } from './options.js';
import { asCheckFailure, type Findings, type Scenario, type Stage } from './stage.js';
import { CheckFailure, fail, judgeAccepted, pass, skip } from './verdict.js';

/** Only with the option: an endpoint that needs no order may accept such a callback. */
export const overtaking: Scenario = {
  ids: ['overtaking', 'overtaking-redelivery', 'overtaking-effect'],
  async run(stage) {
    const { overtaking: option } = stage.options;
    if (option === false) {
      const verdict = skip('not tried: it needs the option overtaking', 'overtaking');
      return {
        overtaking: verdict,
        'overtaking-redelivery': verdict,
        'overtaking-effect': verdict,
      };
    }
    const payment = await stage.createPayment(`check-${randomUUID()}`);
    const request = stage.signChange(payment);
    const answer = await stage.deliver(request);
    const seen = `a callback whose order is not stored: the endpoint ${describeAnswer(answer)}`;
    if (isAccepted(answer)) {
      return { overtaking: fail(`${seen}, so the service does not send it again`, answer) };
    }
    const { status = 0 } = answer;
    // The service retries anything but a success (interface section 6). Redirects are not specified.
    const verdict = status >= 400 ? pass(seen, answer) : fail(seen, answer);
    if (option !== true) {
      return { overtaking: verdict, ...(await redeliver(stage, { payment, request, option })) };
    }
    const why =
      'not tried: it needs a function that stores the order, as the option overtaking of checkCallbackEndpoint';
    return {
      overtaking: verdict,
      'overtaking-redelivery': skip(why),
      'overtaking-effect': judgeEffectCount(payment, 0, 'a callback that was not acknowledged'),
    };
  },
};

interface Redelivery {
  readonly payment: CheckedPayment;
  readonly request: SignedRequest;
  /** Stores the order. */
  readonly option: Exclude<ResolvedCheckOptions['overtaking'], boolean>;
}

async function redeliver(
  stage: Stage,
  { payment, request, option: store }: Redelivery,
): Promise<Findings> {
  const stored = await callOption('overtaking', () => store(payment), stage.options).catch(
    asCheckFailure,
  );
  if (stored instanceof CheckFailure) return { 'overtaking-redelivery': fail(stored.message) };
  const answer = await stage.deliverUntilAccepted(request);
  const { fix } = checkTexts['overtaking-effect'];
  return {
    'overtaking-redelivery': judgeAccepted('the callback, once its order was stored', answer),
    'overtaking-effect': isAccepted(answer)
      ? judgeEffectCount(payment, 1, 'a callback that overtook its order', fix)
      : undefined,
  };
}
