import { pause } from '../deadline.js';
import { type Answer, describeClock } from '../endpoint.js';
import { createRecord } from '../payment.js';
import type { CheckText, EndpointCheckId } from '../report.js';
import { defineScenario, type Scenario } from '../scenario.js';
import type { Stage } from '../stage.js';
import { type CheckVerdict, isAccepted, judgeAccepted, judgeRefused, skip } from '../verdict.js';

interface TimestampCheck extends CheckText {
  readonly id: EndpointCheckId;
  readonly expects: 'refusal' | 'acceptance';
  /** X-Timestamp against this machine's clock, `marginSeconds` on the right side of the window's edge. */
  readonly aheadSeconds: (toleranceSeconds: number, marginSeconds: number) => number;
  /** Whether time that passes on the way brings it nearer to the edge. */
  readonly isBroughtNearer: boolean;
}

const WINDOW_REMEDY =
  'Refuse with 401 when Math.abs(now - X-Timestamp) is more than the tolerance, both in seconds and in both directions; callbackHandler does, with toleranceSeconds.';

const list: Record<'stale' | 'future' | 'delayed', TimestampCheck> = {
  stale: {
    id: 'stale-timestamp',
    title: 'Refuses a timestamp older than the tolerance',
    why: 'A recorded callback could be played again at any time, to report a payment a second time.',
    remedy: WINDOW_REMEDY,
    expects: 'refusal',
    aheadSeconds: (tolerance, margin) => -(tolerance + margin),
    isBroughtNearer: false,
  },
  future: {
    id: 'future-timestamp',
    title: 'Refuses a timestamp further ahead than the tolerance',
    why: 'A callback dated ahead would stay valid until then, far longer than the window.',
    remedy: WINDOW_REMEDY,
    expects: 'refusal',
    aheadSeconds: (tolerance, margin) => tolerance + margin,
    isBroughtNearer: true,
  },
  delayed: {
    id: 'delayed-callback',
    title: 'Accepts a timestamp just inside the tolerance',
    why: 'A callback that waited in a queue or was retried is a payment all the same.',
    remedy:
      'Allow the full tolerance, in the unit that the service sends, and keep the clock set by NTP.',
    expects: 'acceptance',
    aheadSeconds: (tolerance, margin) => -(tolerance - margin),
    isBroughtNearer: true,
  },
};

/** How many seconds a clock may be off, before the window is taken to be wrong. */
const MAX_MARGIN_SECONDS = 5;

/** After so many answers that took longer than all before, nothing can be told. */
const MAX_LATE = 3;

/** How much of a second may be over for a request to be sent within it. */
const SECOND_BEGINS_MS = 200;

// A clock that is a little off, or an endpoint that takes its time before it looks, shifts the edge of
// the window. So an unexpected answer one second from the edge is no proof: it is tried further from it.
async function run(stage: Stage, check: TimestampCheck): Promise<CheckVerdict> {
  const lastMargin = Math.min(MAX_MARGIN_SECONDS, stage.options.toleranceSeconds);
  let margin = 1;
  let late = 0;
  let timesLate = 0;
  for (;;) {
    const answer = await send(stage, check, margin + late);
    const verdict = judge(stage, { check, marginSeconds: margin + late, answer });
    if (verdict.outcome === 'passed' || !isOfWindow(check, answer)) return verdict;
    const lateNow = check.isBroughtNearer ? secondsLate(answer) : 0;
    if (margin + late - lateNow >= lastMargin) return verdict;
    if (lateNow > late) {
      timesLate += 1;
      late = lateNow;
    }
    if (timesLate === MAX_LATE) {
      return skip(
        `not known: the endpoint took ever longer to answer, up to ${late} s, so it may have looked at X-Timestamp too late to tell`,
      );
    }
    margin = Math.min(margin + 1, lastMargin);
  }
}

async function send(
  stage: Stage,
  { aheadSeconds, expects, isBroughtNearer }: TimestampCheck,
  marginSeconds: number,
): Promise<Answer> {
  const payment = await stage.createPayment();
  // Whole seconds are compared: sent as a second begins, it is looked at in the same one.
  const intoSecondMs = Date.now() % 1000;
  if (isBroughtNearer && intoSecondMs > SECOND_BEGINS_MS) {
    await pause(1000 - intoSecondMs, stage.options.signal);
  }
  const ahead = aheadSeconds(stage.options.toleranceSeconds, marginSeconds);
  const request = stage.signer.sign(createRecord(payment), { aheadSeconds: ahead });
  return expects === 'refusal' ? stage.forge(payment, request) : stage.deliver(request);
}

interface Attempt {
  readonly check: TimestampCheck;
  readonly marginSeconds: number;
  readonly answer: Answer;
}

function judge(
  { options }: Stage,
  { check: { expects, aheadSeconds }, marginSeconds, answer }: Attempt,
): CheckVerdict {
  const ahead = aheadSeconds(options.toleranceSeconds, marginSeconds);
  const what = `signed ${Math.abs(ahead)} s ${ahead > 0 ? 'ahead' : 'ago'}`;
  const verdict = expects === 'refusal' ? judgeRefused(what, answer) : judgeAccepted(what, answer);
  const note =
    verdict.outcome === 'passed' && marginSeconds > 1
      ? `, but not with ${marginSeconds - 1} s less to spare: its clock or network is up to ${marginSeconds - 1} s off`
      : '';
  return { ...verdict, detail: verdict.detail + note + describeClock(answer) };
}

/** Whether an answer that was not expected may be due to where the window ends. */
function isOfWindow({ expects }: TimestampCheck, answer: Answer): boolean {
  const { status = 0 } = answer;
  if (expects === 'refusal') return isAccepted(answer);
  return status >= 400 && status < 500 && status !== 429;
}

function secondsLate({ sentAtMs, answeredAtMs }: Answer): number {
  return Math.floor(answeredAtMs / 1000) - Math.floor(sentAtMs / 1000);
}

const toScenario = (check: TimestampCheck): Scenario => {
  const { id, title, why, remedy } = check;
  return {
    checks: { [id]: { title, why, remedy } },
    run: async (stage) => ({ [id]: await run(stage, check) }),
  };
};

const otherUnit: Scenario = defineScenario({
  checks: {
    'timestamp-unit': {
      title: 'Refuses a timestamp in another unit',
      why: 'A timestamp in milliseconds that is read as seconds lies thousands of years ahead: whoever takes it has no window.',
      remedy: WINDOW_REMEDY,
    },
  },
  async run(stage) {
    const { signer } = stage;
    const payment = await stage.createPayment();
    const timestamp = signer.timestampInOtherUnit();
    const answer = await stage.forge(payment, signer.sign(createRecord(payment), { timestamp }));
    const unit = signer.unit === 'seconds' ? 'milliseconds' : 'seconds';
    return { 'timestamp-unit': judgeRefused(`X-Timestamp in ${unit}`, answer) };
  },
});

export const timestamps: readonly Scenario[] = [
  toScenario(list.stale),
  toScenario(list.future),
  otherUnit,
  toScenario(list.delayed),
];
