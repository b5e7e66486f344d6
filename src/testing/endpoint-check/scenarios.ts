import { type Answer, describeAnswer, isAccepted } from './answer.js';
import { type SignedRequest, UNKNOWN_STATUS } from './callbacks.js';
import { checkTexts } from './check-texts.js';
import {
  describeCount,
  type EffectJudgement,
  type EffectProbe,
  judgeEffectCount,
} from './effect-probe.js';
import type { CheckedPayment, EffectCount } from './options.js';
import { overtaking } from './overtaking.js';
import { acknowledgement, probeAnswers, wrongSecret } from './premises.js';
import type { EndpointCheckId } from './report.js';
import {
  alteredSignature,
  forgeries,
  malformedBody,
  otherUnit,
  refusedEffects,
  unusual,
} from './single-callbacks.js';
import { describeMixture, type Findings, type Scenario, type Stage } from './stage.js';
import { delayedCallback, futureTimestamp, staleTimestamp } from './timestamps.js';
import { CheckFailure, type CheckVerdict, fail, judgeAccepted, pass, skip } from './verdict.js';

const unknownStatus: Scenario = {
  ids: ['unknown-status', 'unknown-status-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const answer = await stage.deliver(stage.sign(payment, { status: UNKNOWN_STATUS }));
    const verdict = judgeAccepted(`the status ${UNKNOWN_STATUS}`, answer);
    const { paid } = stage.accepted;
    if (!isAccepted(answer) || paid === undefined) {
      const notTried = skip('not tried: the callback was not accepted');
      return { 'unknown-status': verdict, 'unknown-status-effect': notTried };
    }
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

interface InTurn {
  readonly ids: readonly [EndpointCheckId, EndpointCheckId];
  readonly first: SignedRequest;
  readonly second: SignedRequest;
  /** Their names in messages: `the first delivery`. */
  readonly names: readonly [first: string, second: string];
  /** Looks at the effects between the two. */
  readonly look?: (probe: EffectProbe) => Promise<EffectCount>;
  readonly judge: (earlier: EffectCount, answer: CheckVerdict) => EffectJudgement;
}

/** Delivers two callbacks one after the other. Both must be answered 2xx. */
async function deliverInTurn(
  stage: Stage,
  { ids: [id, effectId], first, second, names, look, judge }: InTurn,
): Promise<Findings> {
  const before = judgeAccepted(names[0], await stage.deliver(first));
  if (before.outcome !== 'passed') {
    return { [id]: before, [effectId]: skip(`not tried: ${names[0]} was not accepted`) };
  }
  const earlier = look && (await stage.observe(look));
  const answer = judgeAccepted(names[1], await stage.deliver(second));
  return {
    [id]: answer,
    [effectId]: async (probe: EffectProbe) => {
      if (earlier instanceof CheckFailure) throw earlier;
      return judge(earlier ?? { effects: 0 }, answer)(probe);
    },
  };
}

const duplicate = (
  ids: InTurn['ids'],
  sign: (stage: Stage, payment: CheckedPayment) => Pick<InTurn, 'first' | 'second'>,
): Scenario => ({
  ids,
  async run(stage) {
    const payment = await stage.createPayment();
    return deliverInTurn(stage, {
      ids,
      ...sign(stage, payment),
      names: ['the first delivery', 'the second delivery'],
      judge: () => judgeEffectCount(payment, 1, 'one change that was delivered twice'),
    });
  },
});

const duplicateInTurn = duplicate(['duplicate', 'duplicate-effect'], (stage, payment) => {
  const request = stage.sign(payment);
  return { first: request, second: request };
});

const resignedRetry = duplicate(['resigned-retry', 'resigned-retry-effect'], (stage, payment) => {
  const record = stage.createRecord(payment);
  const { signer } = stage;
  return { first: signer.sign(record, { aheadSeconds: -1 }), second: signer.sign(record) };
});

const COPIES = 5;

/** While one copy is being processed, the others may be answered with a status that asks for a retry. */
const duplicatesAtOnce: Scenario = {
  ids: ['simultaneous', 'simultaneous-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.sign(payment);
    const copies = await stage.sendAtOnce(Array(COPIES).fill(request));
    const again = copies.every(isAccepted) ? undefined : await stage.deliverUntilAccepted(request);
    return {
      simultaneous: judgeCopies(copies, again),
      'simultaneous-effect':
        again === undefined || isAccepted(again)
          ? judgeEffectCount(payment, 1, `${COPIES} copies at once`)
          : skip('not tried: the callback was never acknowledged'),
    };
  },
};

function judgeCopies(copies: readonly Answer[], again: Answer | undefined): CheckVerdict {
  const answers = copies.map(({ status, failure }) => status ?? `none (${failure})`).join(', ');
  const seen = `${copies.length} copies at once were answered ${answers}`;
  const wrong = copies.find((answer) => !isAccepted(answer) && !asksForRetry(answer));
  if (wrong !== undefined) return fail(`${seen}; 2xx or 503 was expected`, wrong);
  if (again === undefined) return pass(seen);
  const then = `${seen}; delivered again, the endpoint ${describeAnswer(again)}`;
  return isAccepted(again) ? pass(then, again) : fail(then, again);
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
const secondChange: Scenario = {
  ids: ['second-change', 'second-change-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    // Both at one instant, which nothing rules out: neither is older, and they are still two changes.
    const paid = stage.createRecord(payment);
    const findings = await deliverInTurn(stage, {
      ids: ['second-change', 'second-change-effect'],
      first: stage.signer.sign({ ...paid, status: UNKNOWN_STATUS }),
      second: stage.signer.sign(paid),
      names: ['the first change', 'the second change'],
      look: (probe) => probe.askAfterPause(payment),
      judge: (earlier) => async (probe) => {
        const later = await probe.ask(payment);
        const seen = describeBoth(earlier, later);
        return isSame(earlier, later) ? fail(seen) : pass(seen);
      },
    });
    stage.accepted.paidInOrder = payment;
    return findings;
  },
};

const olderChange: Scenario = {
  ids: ['older-change', 'older-change-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    return deliverInTurn(stage, {
      ids: ['older-change', 'older-change-effect'],
      first: stage.sign(payment, { afterSeconds: 20 }),
      // Compared as text, its time is later than that of the newer change.
      second: stage.sign(payment, { status: UNKNOWN_STATUS, afterSeconds: 10, offsetHours: 5 }),
      names: ['the first change', 'the older change'],
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
    });
  },
};

/** The effect of paid is due whatever was reported before: the money has arrived. */
const latePaid: Scenario = {
  ids: ['late-paid-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const newer = stage.sign(payment, { status: UNKNOWN_STATUS, afterSeconds: 20 });
    for (const request of [newer, stage.sign(payment, { afterSeconds: 10 })]) {
      const answer = await stage.deliver(request);
      if (isAccepted(answer)) continue;
      const reason = `not tried: a callback was not accepted: the endpoint ${describeAnswer(answer)}`;
      return { 'late-paid-effect': skip(reason) };
    }
    return {
      'late-paid-effect': async (probe) => {
        const { unknownStatus: without, paidInOrder } = stage.accepted;
        if (without === undefined || paidInOrder === undefined) {
          return skip('not tried: there are no changes that arrived in order to compare with');
        }
        const { effects } = await probe.ask(paidInOrder);
        if (effects === (await probe.ask(without)).effects) {
          return skip('not judged: countEffects did not rise with paid');
        }
        const count = await probe.ask(payment);
        const seen = `countEffects returned ${describeCount(count)} for paid after a newer change`;
        return count.effects === effects
          ? pass(seen)
          : fail(`${seen}, but ${effects} was expected, as for changes in order`);
      },
    };
  },
};

/** The same status at a later time is another change (interface section 6). `paid` is last: some treat it as final. */
const returningStatus: Scenario = {
  ids: ['returning-status-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    for (const change of [
      stage.sign(payment, { afterSeconds: 10 }),
      stage.sign(payment, { status: UNKNOWN_STATUS, afterSeconds: 20 }),
      stage.sign(payment, { afterSeconds: 30 }),
    ]) {
      const answer = await stage.deliver(change);
      if (isAccepted(answer)) continue;
      const reason = `not tried: a callback was not accepted: the endpoint ${describeAnswer(answer)}`;
      return { 'returning-status-effect': skip(reason) };
    }
    return {
      'returning-status-effect': async (probe) => {
        const { paidInOrder } = stage.accepted;
        if (paidInOrder === undefined) {
          return skip('not tried: there are no changes that arrived in order to compare with');
        }
        const inOrder = await probe.ask(paidInOrder);
        const count = await probe.ask(payment);
        const seen = `countEffects returned ${describeCount(count)} for paid, another status and paid again`;
        if (count.status !== undefined) {
          return count.status === inOrder.status
            ? pass(seen)
            : fail(`${seen}; the status ${inOrder.status} was expected`);
        }
        if (!(await stage.countsEveryChange(probe))) {
          return skip(
            'not judged: countEffects returns no status, and does not count every change',
          );
        }
        return count.effects === inOrder.effects + 1
          ? pass(seen)
          : fail(`${seen}; ${inOrder.effects + 1} were expected`);
      },
    };
  },
};

/** The identifier of a payment is its referenceNumber (interface section 2.2); an order may have several payments. */
const secondPayment: Scenario = {
  ids: ['second-payment', 'second-payment-effect'],
  async run(stage) {
    const first = await stage.createPayment();
    const second = await stage.createPayment({ orderOf: first });
    const unsent = await stage.createPayment({ orderOf: first });
    return deliverInTurn(stage, {
      ids: ['second-payment', 'second-payment-effect'],
      first: stage.sign(first),
      second: stage.sign(second),
      names: ['the first payment', 'the second payment'],
      judge: (_earlier, answer) => async (probe) => {
        if (answer.outcome !== 'passed')
          return skip('not tried: the second payment was not accepted');
        const { effects } = await probe.ask(unsent);
        if (effects !== 0) return skip(describeMixture('payments of one order'));
        const { fix } = checkTexts['second-payment-effect'];
        return judgeEffectCount(second, 1, 'the second payment of an order', fix)(probe);
      },
    });
  },
};

const available: Scenario = {
  ids: ['available'],
  run: async ({ outage }) => ({
    available: outage ?? pass('the endpoint accepted valid callbacks to the end of the run'),
  }),
};

/** A refusal may reach the sender as a broken connection: it is still writing when the endpoint closes. */
const BROKEN_CONNECTION: readonly unknown[] = ['ECONNRESET', 'EPIPE', 'ECONNABORTED'];

const largeBody: Scenario = {
  ids: ['large-body', 'after-large-body'],
  async run(stage) {
    const { largeBodyBytes } = stage.options;
    // Spaces, so that only its size is wrong: no field is too long or unknown.
    const json = JSON.stringify(stage.createRecord(await stage.createPayment()));
    const spaces = ' '.repeat(Math.max(largeBodyBytes - Buffer.byteLength(json), 0));
    const large = await stage.send(stage.signer.sign(`{${spaces}${json.slice(1)}`));
    const payment = await stage.createPayment();
    const next = await stage.deliver(stage.sign(payment));
    if (isAccepted(next)) stage.accepted.last = payment;
    return {
      'large-body': { ...judgeLargeBody(largeBodyBytes, large), isLesser: isAccepted(next) },
      'after-large-body': judgeAccepted('a valid callback after it', next),
    };
  },
};

function judgeLargeBody(bytes: number, answer: Answer): CheckVerdict {
  const seen = `${bytes} bytes, correctly signed: the endpoint ${describeAnswer(answer)}`;
  const { status = 0, failure } = answer;
  if (failure !== undefined) {
    return BROKEN_CONNECTION.includes(failure) ? pass(seen, answer) : fail(seen, answer);
  }
  if (isAccepted(answer)) return fail(`${seen}, so its cap is higher, or it has none`, answer);
  if (status >= 400 && status < 500) return pass(seen, answer);
  return fail(`${seen}; 413 was expected`, answer);
}

/** In the order in which they are run. */
export const scenarios: readonly Scenario[] = [
  probeAnswers,
  acknowledgement,
  wrongSecret,
  ...forgeries,
  alteredSignature,
  malformedBody,
  staleTimestamp,
  futureTimestamp,
  otherUnit,
  delayedCallback,
  refusedEffects,
  ...unusual,
  unknownStatus,
  duplicateInTurn,
  duplicatesAtOnce,
  resignedRetry,
  secondChange,
  olderChange,
  latePaid,
  returningStatus,
  secondPayment,
  overtaking,
  largeBody,
  available,
];
