import { pause } from '../deadline.js';
import { type Answer, describeClock } from '../endpoint.js';
import { type CheckedPayment, createRecord } from '../payment.js';
import type { CheckText, EndpointCheckId } from '../report.js';
import type { Scenario } from '../scenario.js';
import type { SignedRequest } from '../signer.js';
import type { Stage } from '../stage.js';
import { type CheckVerdict, isAccepted, judgeAccepted, judgeRefused } from '../verdict.js';

interface TimestampCheck extends CheckText {
  readonly id: EndpointCheckId;
  readonly what: (stage: Stage) => string;
  readonly sign: (stage: Stage, record: object) => SignedRequest;
  readonly expects: 'refusal' | 'acceptance';
}

const WINDOW_REMEDY =
  'Refuse with 401 when Math.abs(now - X-Timestamp) is more than the tolerance, both in seconds and in both directions; callbackHandler does, with toleranceSeconds.';

const refusals: readonly TimestampCheck[] = [
  {
    id: 'stale-timestamp',
    title: 'Refuses a timestamp older than the tolerance',
    why: 'A recorded callback could be played again at any time, to report a payment a second time.',
    remedy: WINDOW_REMEDY,
    what: ({ options }) => `signed ${options.toleranceSeconds + 1} s ago`,
    sign: ({ signer, options }, record) =>
      signer.sign(record, { aheadSeconds: -(options.toleranceSeconds + 1) }),
    expects: 'refusal',
  },
  {
    id: 'future-timestamp',
    title: 'Refuses a timestamp further ahead than the tolerance',
    why: 'A callback dated ahead would stay valid until then, far longer than the window.',
    remedy: WINDOW_REMEDY,
    what: ({ options }) => `signed ${options.toleranceSeconds + 1} s ahead`,
    sign: ({ signer, options }, record) =>
      signer.sign(record, { aheadSeconds: options.toleranceSeconds + 1 }),
    expects: 'refusal',
  },
  {
    id: 'timestamp-unit',
    title: 'Refuses a timestamp in another unit',
    why: 'A timestamp in milliseconds that is read as seconds lies thousands of years ahead: whoever takes it has no window.',
    remedy: WINDOW_REMEDY,
    what: ({ signer }) =>
      signer.unit === 'seconds' ? 'X-Timestamp in milliseconds' : 'X-Timestamp in seconds',
    sign: ({ signer }, record) => signer.sign(record, { timestamp: signer.timestampInOtherUnit() }),
    expects: 'refusal',
  },
];

const acceptances: readonly TimestampCheck[] = [
  {
    id: 'delayed-callback',
    title: 'Accepts a timestamp just inside the tolerance',
    why: 'A callback that waited in a queue or was retried is a payment all the same.',
    remedy:
      'Allow the full tolerance, in the unit that the service sends, and keep the clock set by NTP.',
    what: ({ options }) => `signed ${options.toleranceSeconds - 1} s ago`,
    sign: ({ signer, options }, record) =>
      signer.sign(record, { aheadSeconds: -(options.toleranceSeconds - 1) }),
    expects: 'acceptance',
  },
];

const MAX_TRIES = 3;

/** How much of a second may be over for a request to be sent within it. */
const SECOND_BEGINS_MS = 200;

async function run(stage: Stage, check: TimestampCheck): Promise<CheckVerdict> {
  for (let tries = 1; ; tries += 1) {
    const { payment, answer } = await sendAtSecond(stage, check);
    const what = check.what(stage);
    const verdict =
      check.expects === 'refusal' ? judgeRefused(what, answer) : judgeAccepted(what, answer);
    if (verdict.outcome === 'passed' || !isLate(answer) || tries === MAX_TRIES) {
      if (check.expects === 'refusal' && !isAccepted(answer)) {
        stage.refused.push({ payment, answer });
      }
      return { ...verdict, detail: verdict.detail + describeClock(answer) };
    }
  }
}

// Whole seconds are compared: what is one second outside the window when it is sent can be at its
// edge when it is looked at, where either answer is right. So it is sent as a second begins, and
// when the answer came in a later second, an unexpected one tells nothing.
async function sendAtSecond(
  stage: Stage,
  { sign, expects }: TimestampCheck,
): Promise<{ payment: CheckedPayment; answer: Answer }> {
  const payment = await stage.createPayment();
  const intoSecondMs = Date.now() % 1000;
  if (intoSecondMs > SECOND_BEGINS_MS) await pause(1000 - intoSecondMs, stage.options.signal);
  const request = sign(stage, createRecord(payment));
  const answer = await (expects === 'refusal' ? stage.send(request) : stage.deliver(request));
  return { payment, answer };
}

function isLate({ sentAtMs, answeredAtMs }: Answer): boolean {
  return Math.floor(answeredAtMs / 1000) !== Math.floor(sentAtMs / 1000);
}

const toScenario = (check: TimestampCheck): Scenario => {
  const { id, title, why, remedy } = check;
  return {
    checks: { [id]: { title, why, remedy } },
    run: async (stage) => ({ [id]: await run(stage, check) }),
  };
};

export const timestampRefusals: readonly Scenario[] = refusals.map(toScenario);
export const timestampAcceptances: readonly Scenario[] = acceptances.map(toScenario);
