import type { EffectCount } from '../options.js';
import { type CheckedPayment, createRecord, UNKNOWN_STATUS } from '../payment.js';
import { defineScenario, type Scenario } from '../scenario.js';
import type { SignedRequest } from '../signer.js';
import { describeCount, type Stage } from '../stage.js';
import { type CheckVerdict, fail, judgeAccepted, pass, skip } from '../verdict.js';

// Both need a status other than paid; whoever takes none but paid has failed in unknown-status.
const NEEDS = 'unknown-status';

/** `paid` comes second: an endpoint that acts on nothing else must act here too. */
export const secondChange: Scenario = defineScenario({
  needs: NEEDS,
  checks: {
    'second-change': {
      title: 'Acknowledges a second change of a payment',
      why: 'Each status change is sent until it is acknowledged.',
      remedy: 'Answer 200 to every authentic change of a payment.',
    },
    'second-change-effect': {
      title: 'Acts on a second change of a payment',
      why: 'A handler that knows duplicates by the payment alone drops what follows its first callback: the order stays unpaid.',
      remedy:
        'Know duplicates by payment, status and updatedAt together: callbackKey is made of these. callbackHandler uses it.',
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const { answer, effect } = await deliverInTurn(stage, payment, {
      first: stage.signer.sign(createRecord(payment, { status: UNKNOWN_STATUS, afterSeconds: 10 })),
      second: stage.signer.sign(createRecord(payment, { afterSeconds: 20 })),
      isSettled: () => true,
      differs: true,
    });
    return { 'second-change': answer, 'second-change-effect': effect };
  },
});

export const olderChange: Scenario = defineScenario({
  needs: NEEDS,
  checks: {
    'older-change': {
      title: 'Acknowledges an older change that arrives late',
      why: 'Callbacks overtake each other; an older one that is refused is delivered again for ever.',
      remedy: 'Answer 200 to it and leave the newer status as it is, as callbackHandler does.',
    },
    'older-change-effect': {
      title: 'Does not let an older change undo a newer one',
      why: 'A payment that is paid falls back to an earlier status, and the order is held or cancelled.',
      remedy:
        'Keep updatedAt of the last change with the payment, and ignore what is older; callbackHandler does, with onStale.',
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const { answer, effect } = await deliverInTurn(stage, payment, {
      first: stage.signer.sign(createRecord(payment, { afterSeconds: 20 })),
      second: stage.signer.sign(
        createRecord(payment, { status: UNKNOWN_STATUS, afterSeconds: 10 }),
      ),
      isSettled: ({ effects }) => effects >= 1,
      differs: false,
    });
    return { 'older-change': answer, 'older-change-effect': effect };
  },
});

interface TwoChanges {
  readonly first: SignedRequest;
  readonly second: SignedRequest;
  /** Whether the effect of the first has shown. */
  readonly isSettled: (count: EffectCount) => boolean;
  /** Whether the second is to make a difference. */
  readonly differs: boolean;
}

async function deliverInTurn(
  stage: Stage,
  payment: CheckedPayment,
  { first, second, isSettled, differs }: TwoChanges,
): Promise<{ answer: CheckVerdict; effect: CheckVerdict }> {
  const before = judgeAccepted('the first change', await stage.deliver(first));
  if (before.outcome !== 'passed') {
    return { answer: before, effect: skip('not tried: the first change was not accepted') };
  }
  let answer: CheckVerdict | undefined;
  const deliverSecond = async () => {
    const what = differs ? 'the second change' : 'the older change';
    answer = judgeAccepted(what, await stage.deliver(second));
    return answer;
  };
  const effect = await stage.judgeEffects(async (probe) => {
    const earlier = await probe.askUntil(payment, isSettled);
    await deliverSecond();
    const later = differs
      ? await probe.askUntil(payment, (count) => hasMoved(earlier, count))
      : await probe.askAfterPause(payment);
    const seen = `${probe.name} told ${describeCount(earlier)} before, and ${describeCount(later)} after it`;
    return (differs ? hasMoved(earlier, later) : isSame(earlier, later)) ? pass(seen) : fail(seen);
  });
  return { answer: answer ?? (await deliverSecond()), effect };
}

const hasMoved = (earlier: EffectCount, later: EffectCount): boolean =>
  later.effects > earlier.effects || later.status !== earlier.status;

const isSame = (earlier: EffectCount, later: EffectCount): boolean =>
  later.effects === earlier.effects && later.status === earlier.status;
