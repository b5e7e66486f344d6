import { randomUUID } from 'node:crypto';
import { type Answer, describeAnswer, isAccepted } from './answer.js';
import { checkActedOnce, describeCount, type EffectCheck, type Effects } from './effects.js';
import type { SignedRequest } from './endpoint.js';
import type { CheckedPayment, EffectCount } from './options.js';
import { acknowledgement, probeAnswers, wrongSecret } from './premises.js';
import type { EndpointCheckId } from './report.js';
import { available, largeBody, singleCallbacks } from './single-callbacks.js';
import { type Scenario, type Stage, UNKNOWN_STATUS } from './stage.js';
import { type CheckVerdict, checkAccepted, fail, pass, skip } from './verdict.js';

const unknownStatus: Scenario = {
  ids: ['unknown-status', 'unknown-status-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const answer = await stage.deliver(stage.signChange(payment, { status: UNKNOWN_STATUS }));
    const verdict = checkAccepted(`the status ${UNKNOWN_STATUS}`, answer);
    const { paid } = stage.accepted;
    if (!isAccepted(answer) || paid === undefined) return { 'unknown-status': verdict };
    stage.accepted.unknownStatus = payment;
    return {
      'unknown-status': verdict,
      'unknown-status-effect': async (effects) => {
        const { effectCounts } = stage.options;
        const [afterPaid, afterUnknown] = [await effects.count(paid), await effects.count(payment)];
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
  readonly check: EffectCheck;
}

const inTurn = ({ ids, prepare }: InTurn): Scenario => ({
  ids,
  async run(stage) {
    const [id, effectId = id] = ids;
    const { first, second, check } = prepare(stage, await stage.createPayment());
    const before = checkAccepted('the first callback', await stage.deliver(first));
    if (before.outcome !== 'passed') return { [id]: before };
    const verdict = checkAccepted('the second callback', await stage.deliver(second));
    return verdict.outcome === 'passed' ? { [id]: verdict, [effectId]: check } : { [id]: verdict };
  },
});

const TWICE = 'one change that was delivered twice';

const duplicate = inTurn({
  ids: ['duplicate', 'duplicate-effect'],
  prepare(stage, payment) {
    const request = stage.signChange(payment);
    return { first: request, second: request, check: checkActedOnce(payment, TWICE) };
  },
});

const resignedRetry = inTurn({
  ids: ['resigned-retry-effect'],
  prepare(stage, payment) {
    const record = stage.createRecord(payment);
    const first = stage.sign(record, { timestamp: stage.timestampOf(-1) });
    return { first, second: stage.sign(record), check: checkActedOnce(payment, TWICE) };
  },
});

const COPIES = 5;

/** While one copy is being processed, the others may be answered with a status that asks for a retry. */
const duplicatesAtOnce: Scenario = {
  ids: ['simultaneous', 'simultaneous-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.signChange(payment);
    const copies = await stage.sendAtOnce(request, COPIES);
    const again = copies.every(isAccepted) ? undefined : await stage.deliverUntilAccepted(request);
    return {
      simultaneous: checkCopies(copies, again),
      'simultaneous-effect':
        again === undefined || isAccepted(again)
          ? checkActedOnce(payment, `${COPIES} copies at once`)
          : undefined,
    };
  },
};

function checkCopies(copies: readonly Answer[], again: Answer | undefined): CheckVerdict {
  const answers = copies.map(({ status, failure }) => status ?? `none (${failure})`).join(', ');
  const seen = `${copies.length} copies at once were answered ${answers}`;
  const wrong = copies.find((answer) => !isAccepted(answer) && !asksForRetry(answer));
  if (wrong !== undefined) return fail(`${seen}; 2xx or 503 was expected`, wrong);
  if (again === undefined) return pass(seen);
  return checkAccepted(`${seen}; delivered again`, again);
}

// The service retries after anything but 2xx. These statuses ask for it: conflict, too early, too many requests,
// server errors.
const asksForRetry = ({ status = 0 }: Answer): boolean =>
  status >= 500 || [409, 425, 429].includes(status);

const isSame = (one: EffectCount, other: EffectCount): boolean =>
  one.effects === other.effects && one.status === other.status;

const NOTHING_TO_COMPARE = skip('not tried: there is no earlier payment to compare with');

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
      async check(effects) {
        const { unknownStatus } = stage.accepted;
        if (unknownStatus === undefined) return NOTHING_TO_COMPARE;
        const first = await effects.count(unknownStatus);
        const both = await effects.count(payment);
        const seen = `countEffects returned ${describeCount(first)} after the first change alone, and ${describeCount(both)} after both`;
        return isSame(first, both) ? fail(seen) : pass(seen);
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
    async check(effects) {
      const { paid } = stage.accepted;
      if (paid === undefined) return NOTHING_TO_COMPARE;
      const newer = await effects.count(paid);
      const both = await effects.count(payment);
      const seen = `countEffects returned ${describeCount(newer)} after paid alone, and ${describeCount(both)} after paid and an older change`;
      if (isSame(newer, both)) return pass(seen);
      if (both.status !== newer.status) return fail(seen);
      // A ledger has a line for every change, even an older one: its status decides.
      if (!(await countsEveryChange(stage, effects))) return fail(seen);
      return both.status === undefined
        ? skip('not judged: countEffects counts every change and returns no status')
        : pass(seen);
    },
  }),
});

async function countsEveryChange({ options, accepted }: Stage, effects: Effects): Promise<boolean> {
  if (options.effectCounts !== undefined) return options.effectCounts === 'changes';
  const { unknownStatus } = accepted;
  return unknownStatus !== undefined && (await effects.count(unknownStatus)).effects > 0;
}

/** The effect of paid is due whatever was reported before: the money has arrived. */
const latePaid: Scenario = {
  ids: ['late-paid-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    for (const change of [{ status: UNKNOWN_STATUS, afterSeconds: 20 }, { afterSeconds: 10 }]) {
      if (!isAccepted(await stage.deliver(stage.signChange(payment, change)))) return {};
    }
    return {
      'late-paid-effect': async (effects) => {
        const { unknownStatus: unpaid, paidInOrder } = stage.accepted;
        if (unpaid === undefined || paidInOrder === undefined) return NOTHING_TO_COMPARE;
        const expected = (await effects.count(paidInOrder)).effects;
        if (expected === (await effects.count(unpaid)).effects) {
          return skip('not judged: countEffects did not rise with paid');
        }
        const count = await effects.count(payment);
        const seen = `countEffects returned ${describeCount(count)} for paid after a newer change`;
        return count.effects === expected
          ? pass(seen)
          : fail(`${seen}, but ${expected} was expected, as for changes in order`);
      },
    };
  },
};

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
  ...singleCallbacks,
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
