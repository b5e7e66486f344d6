import { randomUUID } from 'node:crypto';
import {
  type Answer,
  type CheckVerdict,
  checkAccepted,
  checkRefused,
  describeAnswer,
  fail,
  fatal,
  isAccepted,
  pass,
  skip,
} from './answer.js';
import type { EndpointCheckId } from './checks.js';
import { checkActedOnce, describeCount, type EffectCheck } from './effects.js';
import type { SignedRequest } from './endpoint.js';
import type { CheckedPayment } from './options.js';
import { explainRefusal } from './refusal.js';
import { available, largeBody, singleCallbacks } from './single-callbacks.js';
import { FOREIGN_KEY, type Scenario, type Stage, UNKNOWN_STATUS } from './stage.js';

// What must hold before anything else can be checked.

/** The first callback: unless a valid callback is accepted, a refusal says nothing about the callback. */
const acknowledgement: Scenario = {
  ids: ['reachable', 'valid-accepted', 'status-200', 'acknowledged-in-time', 'valid-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.signChange(payment);
    const answer = await stage.deliver(request);
    const { status } = answer;
    const seen = `the endpoint ${describeAnswer(answer)}`;
    const reachable = pass(seen, answer);
    if (answer.mayLackOrder) {
      return { reachable, 'valid-accepted': checkAccepted('a valid callback', answer) };
    }
    if (!isAccepted(answer)) {
      const refusal = fatal(await explainRefusal(stage, request, answer));
      return status === undefined
        ? { reachable: refusal }
        : { reachable, 'valid-accepted': refusal };
    }
    stage.accepted.paid = payment;
    const expects200 = `a valid callback was answered ${status}`;
    return {
      reachable,
      'valid-accepted': checkAccepted('a valid callback', answer),
      'status-200':
        status === 200
          ? pass(expects200, answer)
          : fail(`${expects200}, but the interface (section 4.2) expects 200`, answer),
      'acknowledged-in-time': await checkTime(stage, answer),
      'valid-effect': checkActedOnce(payment, 'one callback'),
    };
  },
};

/** The interface says "immediately", without a figure: this is a common limit for receivers of callbacks. */
const ACKNOWLEDGE_WITHIN_MS = 5_000;

/** The first answer may wait for what is opened or compiled once. If the next is slow too, all are. */
async function checkTime(stage: Stage, first: Answer): Promise<CheckVerdict> {
  const describe = ({ latencyMs }: Answer): string =>
    `acknowledged after ${Math.round(latencyMs)} ms, of ${ACKNOWLEDGE_WITHIN_MS} ms allowed`;
  if (first.latencyMs <= ACKNOWLEDGE_WITHIN_MS) return pass(describe(first), first);
  const next = await stage.deliver(stage.signChange(await stage.createPayment()));
  const seen = `${describe(first)}; the next: the endpoint ${describeAnswer(next)} after ${Math.round(next.latencyMs)} ms`;
  const isInTime = isAccepted(next) && next.latencyMs <= ACKNOWLEDGE_WITHIN_MS;
  return isInTime ? pass(seen, next) : fatal(fail(seen, first));
}

const INDIFFERENT =
  'It answers 2xx to everything, so the service counts a refused callback as processed. If another page answers, correct the path. Otherwise verify the signature first, and answer a refusal with 401 (http_response_code(401) in PHP).';

/** The first forgery: for an endpoint that accepts anything, no other check is made. */
const wrongSecret: Scenario = {
  ids: ['wrong-secret'],
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.sign(stage.createRecord(payment), { key: FOREIGN_KEY });
    const answer = await stage.endpoint.post(request);
    const verdict = checkRefused('a signature made with another secret', answer);
    if (!isAccepted(answer)) return { 'wrong-secret': verdict };
    const other = await stage.endpoint.post({ headers: {}, body: Buffer.from('not json') });
    if (!isAccepted(other)) return { 'wrong-secret': verdict };
    const detail = `a signature made with another secret, and an unsigned body that is not a payment: the endpoint ${describeAnswer(answer)} to both`;
    return { 'wrong-secret': fatal({ ...fail(detail, answer), remedy: INDIFFERENT }) };
  },
};

const unknownStatus: Scenario = {
  ids: ['unknown-status', 'unknown-status-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const answer = await stage.deliver(stage.signChange(payment, { status: UNKNOWN_STATUS }));
    const verdict = checkAccepted(`the status ${UNKNOWN_STATUS}`, answer);
    const { paid } = stage.accepted;
    if (!isAccepted(answer) || paid === undefined) return { 'unknown-status': verdict };
    return {
      'unknown-status': verdict,
      'unknown-status-effect': async (effects) => {
        const afterPaid = await effects.count(paid);
        const afterUnknown = await effects.count(payment);
        const seen = `countEffects returned ${describeCount(afterUnknown)} after ${UNKNOWN_STATUS}, and ${describeCount(afterPaid)} after paid`;
        const isSame = afterPaid.status !== undefined && afterUnknown.status === afterPaid.status;
        return afterUnknown.effects !== 0 || isSame ? fail(seen) : pass(seen);
      },
    };
  },
};

/** Two callbacks that are delivered one after the other, which must be answered 2xx; and the check of their effects. */
type Prepare = (
  stage: Stage,
  payment: CheckedPayment,
) => { first: SignedRequest; second: SignedRequest; check: EffectCheck };

/** @param ids the check of the answers, if there is one, and that of the effects */
const inTurn = (ids: readonly [EndpointCheckId, EndpointCheckId?], prepare: Prepare): Scenario => ({
  ids: ids as Scenario['ids'],
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

const duplicate = inTurn(['duplicate', 'duplicate-effect'], (stage, payment) => {
  const request = stage.signChange(payment);
  return { first: request, second: request, check: checkActedOnce(payment, TWICE) };
});

const resignedRetry = inTurn(['resigned-retry-effect'], (stage, payment) => {
  const record = stage.createRecord(payment);
  const first = stage.sign(record, { timestamp: stage.timestampOf(-1) });
  return { first, second: stage.sign(record), check: checkActedOnce(payment, TWICE) };
});

const COPIES = 5;

/** While one copy is being processed, the others may be answered with a status that asks for a retry. */
const duplicatesAtOnce: Scenario = {
  ids: ['simultaneous', 'simultaneous-effect'],
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.signChange(payment);
    const copies = await stage.endpoint.postAtOnce(request, COPIES);
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

/** `paid` is second: an endpoint that acts on nothing else must act here too. */
const secondChange = inTurn(['second-change-effect'], (stage, payment) => {
  // Both at one instant, which nothing rules out: neither is older, and they are still two changes.
  const paid = stage.createRecord(payment);
  return {
    first: stage.sign({ ...paid, status: UNKNOWN_STATUS }),
    second: stage.sign(paid),
    check: checkActedOnce(payment, `${UNKNOWN_STATUS} and then paid`),
  };
});

const olderChange = inTurn(['older-change', 'older-change-effect'], (stage, payment) => ({
  first: stage.signChange(payment, { afterSeconds: 20 }),
  // Compared as text, its time is later than that of the newer change.
  second: stage.signChange(payment, {
    status: UNKNOWN_STATUS,
    afterSeconds: 10,
    offsetHours: 5,
  }),
  async check(effects) {
    const { paid = payment } = stage.accepted;
    const newer = await effects.count(paid);
    const both = await effects.count(payment);
    const seen = `countEffects returned ${describeCount(newer)} after paid alone, and ${describeCount(both)} after paid and an older change`;
    return newer.effects === both.effects && newer.status === both.status ? pass(seen) : fail(seen);
  },
}));

/** The effect of paid is due whatever was reported before: the money has arrived. */
const latePaid = inTurn(['late-paid-effect'], (stage, payment) => ({
  first: stage.signChange(payment, { status: UNKNOWN_STATUS, afterSeconds: 20 }),
  second: stage.signChange(payment, { afterSeconds: 10 }),
  check: checkActedOnce(payment, 'paid after a newer change'),
}));

/** Only with the option: an endpoint that needs no order may accept such a callback. */
const overtaking: Scenario = {
  ids: ['overtaking'],
  async run(stage) {
    if (!stage.options.overtaking) {
      return { overtaking: skip('not tried: it needs the option overtaking') };
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
