import type { EffectJudgement } from '../effect-probe.js';
import type { Answer } from '../endpoint.js';
import { judgeOneEffect } from '../one-effect.js';
import { type CheckedPayment, createRecord } from '../payment.js';
import { deliverUntilAccepted } from '../redelivery.js';
import { defineScenario, type Scenario } from '../scenario.js';
import type { SignedRequest } from '../signer.js';
import type { Stage } from '../stage.js';
import {
  type CheckVerdict,
  describeAnswer,
  fail,
  isAccepted,
  judgeAccepted,
  pass,
  skip,
} from '../verdict.js';

const COPIES = 5;

const ANSWER_WHY =
  'The service delivers again until it gets a 2xx: a duplicate that is refused comes for ever, and may have your endpoint switched off.';
const ANSWER_REMEDY =
  'Answer a change that was processed before with 200, as callbackHandler does.';
const EFFECT_REMEDY =
  "Remember processed changes by callbackKey (payment, status, updatedAt) in the same transaction as the effect, or use callbackHandler with an inbox shared by all of the endpoint's processes.";

/** After a 2xx the service has been told that it is done: nothing but 2xx is a right answer to the same again. */
export const duplicateInTurn: Scenario = defineScenario({
  checks: {
    duplicate: {
      title: 'Acknowledges a callback that comes again',
      why: ANSWER_WHY,
      remedy: ANSWER_REMEDY,
    },
  },
  effects: {
    'duplicate-effect': {
      title: 'Acts once on a callback that comes again',
      why: 'When an answer gets lost the service delivers again: without this an order ships twice.',
      remedy: EFFECT_REMEDY,
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.signer.sign(createRecord(payment));
    const { answer, effect } = await deliverTwice(stage, payment, {
      first: request,
      second: request,
    });
    return { duplicate: answer, 'duplicate-effect': effect };
  },
});

export const resignedRetry: Scenario = defineScenario({
  checks: {
    'resigned-retry': {
      title: 'Acknowledges a retry that is signed anew',
      why: ANSWER_WHY,
      remedy: ANSWER_REMEDY,
    },
  },
  effects: {
    'resigned-retry-effect': {
      title: 'Acts once on a retry that is signed anew',
      why: 'A retry may carry a new timestamp and signature: whoever knows duplicates by those ships twice.',
      remedy: EFFECT_REMEDY,
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const record = createRecord(payment);
    const { answer, effect } = await deliverTwice(stage, payment, {
      first: stage.signer.sign(record, { aheadSeconds: -1 }),
      second: stage.signer.sign(record),
    });
    return { 'resigned-retry': answer, 'resigned-retry-effect': effect };
  },
});

/** While one copy is being processed "come again" is a right answer to the others. */
export const duplicatesAtOnce: Scenario = defineScenario({
  checks: {
    simultaneous: {
      title: 'Acknowledges copies that arrive at the same moment, or asks to come again',
      why: 'Copies arrive together after a network hiccup; one that is refused for good, or never acknowledged, comes for ever.',
      remedy:
        'Answer 200 once the change is processed, and 503 to a copy that comes while it is; callbackHandler does.',
    },
  },
  effects: {
    'simultaneous-effect': {
      title: 'Acts once on copies that arrive at the same moment',
      why: 'Between looking whether a change is known and recording it there is room for its copy: the order ships twice.',
      remedy: `Let the store decide: insert under a unique key first, and act only when the insert succeeded. ${EFFECT_REMEDY}`,
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.signer.sign(createRecord(payment));
    const copies = await stage.sendAtOnce(request, COPIES);
    const redelivered = copies.every(isAccepted)
      ? undefined
      : await deliverUntilAccepted(stage, request);
    const isAcknowledged = redelivered === undefined || isAccepted(redelivered);
    return {
      simultaneous: judgeCopies(copies, redelivered),
      'simultaneous-effect': isAcknowledged
        ? judgeOneEffect(payment, `${COPIES} copies at once`)
        : skip('not tried: the callback was never acknowledged'),
    };
  },
});

interface Deliveries {
  readonly first: SignedRequest;
  readonly second: SignedRequest;
}

async function deliverTwice(
  stage: Stage,
  payment: CheckedPayment,
  { first, second }: Deliveries,
): Promise<{ answer: CheckVerdict; effect: CheckVerdict | EffectJudgement }> {
  const before = judgeAccepted('the first delivery', await stage.deliver(first));
  if (before.outcome !== 'passed') {
    return { answer: before, effect: skip('not tried: the first delivery was not accepted') };
  }
  const again = await stage.deliver(second);
  return {
    answer: judgeAccepted('the second delivery', again),
    effect: judgeOneEffect(payment, 'one change that came twice'),
  };
}

function judgeCopies(copies: readonly Answer[], redelivered: Answer | undefined): CheckVerdict {
  const answers = copies.map(({ status, failure }) => status ?? `none (${failure})`).join(', ');
  const seen = `${copies.length} copies at once were answered ${answers}`;
  const wrong = copies.find((answer) => !isAccepted(answer) && !asksToComeAgain(answer));
  if (wrong !== undefined) return fail(`${seen}; 2xx or 503 was expected`, wrong);
  if (redelivered === undefined) return pass(seen);
  const then = `${seen}; delivered again, the endpoint ${describeAnswer(redelivered)}`;
  return isAccepted(redelivered) ? pass(then, redelivered) : fail(then, redelivered);
}

// The service delivers again after anything but 2xx. Of the other statuses these say that it should:
// in conflict, too early, too many requests, or failed for now.
function asksToComeAgain({ status = 0 }: Answer): boolean {
  return status >= 500 || [409, 425, 429].includes(status);
}
