import { randomUUID } from 'node:crypto';
import { type Answer, describeAnswer, isAccepted } from './answer.js';
import {
  describeCount,
  type EffectJudgement,
  type EffectProbe,
  judgeEffectCount,
} from './effect-probe.js';
import type { SignedRequest } from './endpoint.js';
import type { CheckedPayment, EffectCount } from './options.js';
import { acknowledgement, probeAnswers, wrongSecret } from './premises.js';
import type { EndpointCheckId } from './report.js';
import {
  alteredSignature,
  available,
  forgeries,
  largeBody,
  limits,
  malformedBody,
  unusual,
} from './single-callbacks.js';
import { type Change, type Scenario, type Stage, UNKNOWN_STATUS } from './stage.js';
import { type CheckVerdict, fail, judgeAccepted, pass, skip } from './verdict.js';

const unknownStatus: Scenario = {
  ids: ['unknown-status', 'unknown-status-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const answer = await stage.deliver(stage.signChange(payment, { status: UNKNOWN_STATUS }));
    const verdict = judgeAccepted(`the status ${UNKNOWN_STATUS}`, answer);
    const { paid } = stage.accepted;
    if (!isAccepted(answer) || paid === undefined) return { 'unknown-status': verdict };
    stage.accepted.unknownStatus = payment;
    return {
      'unknown-status': verdict,
      'unknown-status-effect': async (probe) => {
        const { effectCounts } = stage.options;
        const [afterPaid, afterUnknown] = [await probe.ask(paid), await probe.ask(payment)];
        const seen = `countEffects returned ${describeCount(afterUnknown)} after ${UNKNOWN_STATUS}, and ${describeCount(afterPaid)} after paid`;
        if (effectCounts === 'paid' && afterUnknown.effects !== 0) return fail(seen);
        if (afterPaid.status !== undefined) {
          return afterUnknown.status === afterPaid.status ? fail(seen) : pass(seen);
        }
        if (effectCounts === 'paid') return pass(seen);
        const why = "countEffects returns no status, and effectCounts is not 'paid'";
        return skip(`not judged: ${why}`, 'effectCounts');
      },
    };
  },
};

/** Two callbacks that are delivered one after the other. Both must be answered 2xx. */
interface InTurn {
  /** The check of the answers, if there is one, and that of the effects. */
  readonly ids: readonly [EndpointCheckId] | readonly [EndpointCheckId, EndpointCheckId];
  readonly prepare: (stage: Stage, payment: CheckedPayment) => Prepared;
}

interface Prepared {
  readonly first: SignedRequest;
  readonly second: SignedRequest;
  /** Looks at the effects between the two. */
  readonly look?: (probe: EffectProbe) => Promise<EffectCount>;
  readonly judge: (earlier: EffectCount) => EffectJudgement;
}

const inTurn = ({ ids, prepare }: InTurn): Scenario => ({
  ids,
  async run(stage) {
    const [id, effectId = id] = ids;
    const { first, second, look, judge } = prepare(stage, await stage.createPayment());
    const before = judgeAccepted('the first callback', await stage.deliver(first));
    if (before.outcome !== 'passed') return { [id]: before };
    const earlier = look && (await stage.observe(look));
    const verdict = judgeAccepted('the second callback', await stage.deliver(second));
    if (verdict.outcome !== 'passed') return { [id]: verdict };
    return { [id]: verdict, [effectId]: judge(earlier ?? { effects: 0 }) };
  },
});

const judgeDuplicate = (payment: CheckedPayment) => (): EffectJudgement =>
  judgeEffectCount(payment, 1, 'one change that was delivered twice');

const duplicate = inTurn({
  ids: ['duplicate', 'duplicate-effect'],
  prepare(stage, payment) {
    const request = stage.signChange(payment);
    return { first: request, second: request, judge: judgeDuplicate(payment) };
  },
});

const resignedRetry = inTurn({
  ids: ['resigned-retry-effect'],
  prepare(stage, payment) {
    const record = stage.createRecord(payment);
    const first = stage.sign(record, { timestamp: stage.timestampOf(-1) });
    return { first, second: stage.sign(record), judge: judgeDuplicate(payment) };
  },
});

const COPIES = 5;

/** While one copy is being processed, the others may be answered with a status that asks for a retry. */
const duplicatesAtOnce: Scenario = {
  ids: ['simultaneous', 'simultaneous-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.signChange(payment);
    const copies = await stage.sendAtOnce(Array(COPIES).fill(request));
    const again = copies.every(isAccepted) ? undefined : await stage.deliverUntilAccepted(request);
    return {
      simultaneous: judgeCopies(copies, again),
      'simultaneous-effect':
        again === undefined || isAccepted(again)
          ? judgeEffectCount(payment, 1, `${COPIES} copies at once`)
          : undefined,
    };
  },
};

function judgeCopies(copies: readonly Answer[], again: Answer | undefined): CheckVerdict {
  const answers = copies.map(({ status, failure }) => status ?? `none (${failure})`).join(', ');
  const seen = `${copies.length} copies at once were answered ${answers}`;
  const wrong = copies.find((answer) => !isAccepted(answer) && !asksForRetry(answer));
  if (wrong !== undefined) return fail(`${seen}; 2xx or 503 was expected`, wrong);
  if (again === undefined) return pass(seen);
  return judgeAccepted(`${seen}; delivered again`, again);
}

// The service retries after anything but 2xx. These statuses ask for it: conflict, too early, too many requests,
// server errors.
const asksForRetry = ({ status = 0 }: Answer): boolean =>
  status >= 500 || [409, 425, 429].includes(status);

const describeBoth = (earlier: EffectCount, later: EffectCount): string =>
  `countEffects returned ${describeCount(earlier)} before, and ${describeCount(later)} after it`;

const isSame = (earlier: EffectCount, later: EffectCount): boolean =>
  later.effects === earlier.effects && later.status === earlier.status;

/** `paid` is second: an endpoint that acts on nothing else must act here too. */
const secondChange = inTurn({
  ids: ['second-change-effect'],
  prepare(stage, payment) {
    stage.accepted.paidInOrder = payment;
    // Both at one instant, which nothing rules out: neither is older, and they are still two changes.
    const paid = stage.createRecord(payment);
    return {
      first: stage.sign({ ...paid, status: UNKNOWN_STATUS }),
      second: stage.sign(paid),
      look: (probe) => probe.askAfterPause(payment),
      judge: (earlier) => async (probe) => {
        const later = await probe.ask(payment);
        const seen = describeBoth(earlier, later);
        return isSame(earlier, later) ? fail(seen) : pass(seen);
      },
    };
  },
});

const olderChange = inTurn({
  ids: ['older-change', 'older-change-effect'],
  prepare: (stage, payment) => ({
    first: stage.signChange(payment, { afterSeconds: 20 }),
    // Compared as text, its time is later than that of the newer change.
    second: stage.signChange(payment, {
      status: UNKNOWN_STATUS,
      afterSeconds: 10,
      offsetHours: 5,
    }),
    look: (probe) => probe.askUntilEffect(payment),
    judge: (earlier) => async (probe) => {
      if (earlier.effects < 1) return skip('not tried: the first change had no effect in time');
      const later = await probe.ask(payment);
      const seen = describeBoth(earlier, later);
      if (isSame(earlier, later)) return pass(seen);
      if (later.status !== earlier.status) return fail(seen);
      // A ledger has a line for every change, even an older one: its status decides.
      if (!(await stage.countsEveryChange(probe))) return fail(seen);
      return later.status === undefined
        ? skip('not judged: countEffects counts every change and returns no status')
        : pass(seen);
    },
  }),
});

/** Changes of one payment, whose effects are compared with those of a payment whose changes arrived in order. */
const comparedWithOrder = (
  id: EndpointCheckId,
  changes: readonly Change[],
  judge: (probe: EffectProbe, compared: Compared) => Promise<CheckVerdict>,
): Scenario => ({
  ids: [id],
  async run(stage) {
    const payment = await stage.createPayment();
    for (const change of changes) {
      const answer = await stage.deliver(stage.signChange(payment, change));
      if (!isAccepted(answer)) return {};
    }
    return {
      [id]: async (probe: EffectProbe) => {
        const { unknownStatus: unpaid, paidInOrder } = stage.accepted;
        if (unpaid === undefined || paidInOrder === undefined) {
          return skip('not tried: there are no changes that arrived in order to compare with');
        }
        const inOrder = await probe.ask(paidInOrder);
        return judge(probe, { stage, unpaid, inOrder, count: await probe.ask(payment) });
      },
    };
  },
});

interface Compared {
  readonly stage: Stage;
  /** A payment that was never paid. */
  readonly unpaid: CheckedPayment;
  readonly inOrder: EffectCount;
  readonly count: EffectCount;
}

/** The effect of paid is due whatever was reported before: the money has arrived. */
const latePaid = comparedWithOrder(
  'late-paid-effect',
  [{ status: UNKNOWN_STATUS, afterSeconds: 20 }, { afterSeconds: 10 }],
  async (probe, { unpaid, inOrder: { effects }, count }) => {
    if (effects === (await probe.ask(unpaid)).effects) {
      return skip('not judged: countEffects did not rise with paid');
    }
    const seen = `countEffects returned ${describeCount(count)} for paid after a newer change`;
    return count.effects === effects
      ? pass(seen)
      : fail(`${seen}, but ${effects} was expected, as for changes in order`);
  },
);

/** Only with the option: an endpoint that needs no order may accept such a callback. */
const overtaking: Scenario = {
  ids: ['overtaking'],
  async run(stage) {
    if (!stage.options.overtaking) {
      return { overtaking: skip('not tried: it needs the option overtaking', 'overtaking') };
    }
    const payment = await stage.createPayment(`check-${randomUUID()}`);
    const answer = await stage.deliver(stage.signChange(payment));
    const seen = `a callback whose order is not stored: the endpoint ${describeAnswer(answer)}`;
    // The service retries anything but a success (interface section 6). Redirects are not specified.
    const isRight = !isAccepted(answer) && (answer.status ?? 0) >= 400;
    const lost = isAccepted(answer) ? ', so the service does not send it again' : '';
    return { overtaking: isRight ? pass(seen, answer) : fail(seen + lost, answer) };
  },
};

/** In the order in which they are run. */
export const scenarios: readonly Scenario[] = [
  probeAnswers,
  acknowledgement,
  wrongSecret,
  ...forgeries,
  alteredSignature,
  malformedBody,
  ...limits,
  ...unusual,
  unknownStatus,
  duplicate,
  duplicatesAtOnce,
  resignedRetry,
  secondChange,
  olderChange,
  latePaid,
  overtaking,
  largeBody,
  available,
];
