import type { EffectJudgement, EffectProbe } from '../effect-probe.js';
import type { EffectCount } from '../options.js';
import { createRecord, UNKNOWN_STATUS } from '../payment.js';
import { defineScenario, type Scenario } from '../scenario.js';
import type { SignedRequest } from '../signer.js';
import { describeCount, type Stage } from '../stage.js';
import { CheckFailure, type CheckVerdict, fail, judgeAccepted, pass, skip } from '../verdict.js';

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
  },
  effects: {
    'second-change-effect': {
      title: 'Acts on a second change of a payment',
      why: 'A handler that knows duplicates by the payment alone drops what follows its first callback: the order stays unpaid.',
      remedy:
        'Know duplicates by payment, status and updatedAt together: callbackKey is made of these. callbackHandler uses it.',
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const { answer, effect } = await deliverInTurn(stage, {
      first: stage.signer.sign(createRecord(payment, { status: UNKNOWN_STATUS, afterSeconds: 10 })),
      second: stage.signer.sign(createRecord(payment, { afterSeconds: 20 })),
      what: 'the second change',
      look: (probe) => probe.askAfterPause(payment),
      judge: (earlier) => async (probe) => {
        const later = await probe.ask(payment);
        const seen = describeBoth(probe, earlier, later);
        return isSame(earlier, later) ? fail(seen) : pass(seen);
      },
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
  },
  effects: {
    'older-change-effect': {
      title: 'Does not let an older change undo a newer one',
      why: 'A payment that is paid falls back to an earlier status, and the order is held or cancelled.',
      remedy:
        'Keep updatedAt of the last change with the payment, compare it as a time (Date.parse) and not as text, and ignore what is older; callbackHandler does, with onStale.',
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const older = createRecord(payment, {
      status: UNKNOWN_STATUS,
      afterSeconds: 10,
      // As text it is greater than the newer one.
      offsetHours: 5,
    });
    const { answer, effect } = await deliverInTurn(stage, {
      first: stage.signer.sign(createRecord(payment, { afterSeconds: 20 })),
      second: stage.signer.sign(older),
      what: 'the older change',
      look: (probe) => probe.askUntilEffect(payment),
      judge: (earlier) => async (probe) => {
        if (earlier.effects < 1) return skip('not tried: the first change had no effect in time');
        const later = await probe.ask(payment);
        const seen = describeBoth(probe, earlier, later);
        return isSame(earlier, later) ? pass(seen) : fail(seen);
      },
    });
    return { 'older-change': answer, 'older-change-effect': effect };
  },
});

interface TwoChanges {
  readonly first: SignedRequest;
  readonly second: SignedRequest;
  /** The second, as the beginning of a sentence. */
  readonly what: string;
  /** What the probe tells of the first. */
  readonly look: (probe: EffectProbe) => Promise<EffectCount>;
  readonly judge: (earlier: EffectCount) => EffectJudgement;
}

async function deliverInTurn(
  stage: Stage,
  { first, second, what, look, judge }: TwoChanges,
): Promise<{ answer: CheckVerdict; effect: CheckVerdict | EffectJudgement }> {
  const before = judgeAccepted('the first change', await stage.deliver(first));
  if (before.outcome !== 'passed') {
    return { answer: before, effect: skip('not tried: the first change was not accepted') };
  }
  const earlier = await stage.observe(look);
  const answer = judgeAccepted(what, await stage.deliver(second));
  return {
    answer,
    effect: async (probe) => {
      if (earlier instanceof CheckFailure) throw earlier;
      return judge(earlier ?? { effects: 0 })(probe);
    },
  };
}

const describeBoth = ({ name }: EffectProbe, earlier: EffectCount, later: EffectCount): string =>
  `${name} told ${describeCount(earlier)} before, and ${describeCount(later)} after it`;

const isSame = (earlier: EffectCount, later: EffectCount): boolean =>
  later.effects === earlier.effects && later.status === earlier.status;
