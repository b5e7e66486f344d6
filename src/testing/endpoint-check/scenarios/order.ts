import type { EffectJudgement, EffectProbe } from '../effect-probe.js';
import type { EffectCount } from '../options.js';
import { createRecord, UNKNOWN_STATUS } from '../payment.js';
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

// All need a status other than paid; whoever takes none but paid has failed in unknown-status.
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
    if (answer.outcome === 'passed') stage.changedPayment = payment;
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
        'Keep updatedAt of the last change with the payment, compare it as a time (Date.parse) and not as text, and let an older change leave the status alone. With callbackHandler: set the status only when context.stale is false.',
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
        if (isSame(earlier, later)) return pass(seen);
        if (later.status !== earlier.status) return fail(seen);
        // A ledger has a line for every change, an older one too: its status tells what counts.
        if (!(await stage.countsEveryChange(probe))) return fail(seen);
        return later.status === undefined
          ? skip(`not judged: ${probe.name} counts every change and tells no status`)
          : pass(seen);
      },
    });
    return { 'older-change': answer, 'older-change-effect': effect };
  },
});

/** What is done for a payment that is paid is due whatever was reported before: the money has arrived. */
export const latePaid: Scenario = defineScenario({
  needs: 'second-change',
  checks: {},
  effects: {
    'late-paid-effect': {
      title: 'Acts on a change to paid that arrives after a newer change',
      why: 'When a delivery of paid fails, a newer change may be processed before its retry: an endpoint that drops older changes never ships what was paid.',
      remedy:
        "Run the effect for paid however old the change is, and once by your database: UPDATE orders SET shipped_at = now() WHERE reference = $1 AND shipped_at IS NULL. callbackHandler calls onPayment for older changes with onStale: 'process', the default; only the status waits for context.stale to be false.",
    },
  },
  async run(stage) {
    const payment = await stage.createPayment();
    const newer = createRecord(payment, { status: UNKNOWN_STATUS, afterSeconds: 20 });
    const late = createRecord(payment, { afterSeconds: 10 });
    for (const record of [newer, late]) {
      const answer = await stage.deliver(stage.signer.sign(record));
      if (isAccepted(answer)) continue;
      const reason = `not tried: a callback was not accepted: the endpoint ${describeAnswer(answer)}`;
      return { 'late-paid-effect': skip(reason) };
    }
    return {
      'late-paid-effect': async (probe) => {
        const { unknownPayment, changedPayment } = stage;
        if (unknownPayment === undefined || changedPayment === undefined) {
          return skip('not tried: no changes in order to compare with');
        }
        const without = await probe.ask(unknownPayment);
        const inOrder = await probe.ask(changedPayment);
        if (inOrder.effects === without.effects) {
          return skip(`not judged: what ${probe.name} counts did not rise with paid`);
        }
        const count = await probe.ask(payment);
        const seen = `${probe.name} told ${describeCount(count)} of paid after a newer change`;
        return count.effects === inOrder.effects
          ? pass(seen)
          : fail(`${seen}, but ${inOrder.effects} was expected, as in order`);
      },
    };
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
