import { type Answer, describeAnswer, isAccepted } from './answer.js';
import { checkActedOnce, NOT_COUNTED } from './effects.js';
import { explainRefusal } from './refusal.js';
import { FOREIGN_KEY, type Scenario, type Stage } from './stage.js';
import { type CheckVerdict, checkAccepted, checkRefused, fail, fatal, pass } from './verdict.js';

// What must hold before anything else can be checked.

export const probeAnswers: Scenario = {
  ids: ['probe-answers'],
  async run(stage) {
    if (stage.options.countEffects === undefined) return { 'probe-answers': NOT_COUNTED };
    return { 'probe-answers': await stage.effects.tryOut(await stage.createPayment()) };
  },
};

/** The first callback: unless a valid callback is accepted, a refusal says nothing about the callback. */
export const acknowledgement: Scenario = {
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

/** The first answer may wait for what is opened or compiled once. If the next is slow too, all are. */
async function checkTime(stage: Stage, first: Answer): Promise<CheckVerdict> {
  const { acknowledgeWithinMs } = stage.options;
  const describe = ({ latencyMs }: Answer): string =>
    `acknowledged after ${Math.round(latencyMs)} ms, of ${acknowledgeWithinMs} ms allowed`;
  if (first.latencyMs <= acknowledgeWithinMs) return pass(describe(first), first);
  const next = await stage.deliver(stage.signChange(await stage.createPayment()));
  const seen = `${describe(first)}; the next: the endpoint ${describeAnswer(next)} after ${Math.round(next.latencyMs)} ms`;
  const isInTime = isAccepted(next) && next.latencyMs <= acknowledgeWithinMs;
  return isInTime ? pass(seen, next) : fatal(fail(seen, first));
}

const INDIFFERENT =
  'It answers 2xx to everything, so the service counts a refused callback as processed. If another page answers, correct the path. Otherwise verify the signature first, and answer a refusal with 401 (http_response_code(401) in PHP).';

/** The first forgery: for an endpoint that accepts anything, no other check is made. */
export const wrongSecret: Scenario = {
  ids: ['wrong-secret'],
  async run(stage) {
    const payment = await stage.createPayment();
    const request = stage.sign(stage.createRecord(payment), { key: FOREIGN_KEY });
    const answer = await stage.send(request);
    const verdict = checkRefused('a signature made with another secret', answer);
    if (!isAccepted(answer)) return { 'wrong-secret': verdict };
    const other = await stage.send({ headers: {}, body: Buffer.from('not json') });
    if (!isAccepted(other)) return { 'wrong-secret': verdict };
    const detail = `a signature made with another secret, and an unsigned body that is not a payment: the endpoint ${describeAnswer(answer)} to both`;
    return { 'wrong-secret': fatal({ ...fail(detail, answer), remedy: INDIFFERENT }) };
  },
};
