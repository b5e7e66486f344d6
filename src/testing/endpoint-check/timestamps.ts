import { type Answer, isAccepted } from './answer.js';
import { describeClock } from './endpoint.js';
import type { EndpointCheckId } from './report.js';
import type { Scenario, Stage } from './stage.js';
import { type CheckVerdict, judgeAccepted, judgeRefused, skip } from './verdict.js';

interface TimestampCheck {
  readonly id: EndpointCheckId;
  readonly expected: 'refused' | 'accepted';
  /** How far X-Timestamp is ahead of this machine's clock, `marginSeconds` from the edge of the window. */
  readonly aheadSeconds: (toleranceSeconds: number, marginSeconds: number) => number;
  /** Whether time that passes in transit brings it nearer to the edge. */
  readonly isBroughtNearer: boolean;
}

/** How many seconds a clock may be off before the window counts as wrong. */
const MAX_MARGIN_SECONDS = 5;
/** After this many answers that each took longer than all before, the result is unknown. */
const MAX_LATE = 3;
/** How far into a second a request may be sent, to be handled within that second. */
const SECOND_BEGINS_MS = 200;

// A clock that is a little off, or an endpoint that checks late, shifts the edge of the window. So an unexpected
// answer one second from the edge proves nothing: the next attempt is further away.
async function run(stage: Stage, check: TimestampCheck): Promise<CheckVerdict> {
  const lastMargin = Math.min(MAX_MARGIN_SECONDS, stage.options.toleranceSeconds);
  let margin = 1;
  let late = 0;
  let timesLate = 0;
  for (;;) {
    const { answer, verdict } = await attempt(stage, check, margin + late);
    if (verdict.outcome === 'passed' || !mayBeEdge(check, answer)) return verdict;
    const { sentAtMs, answeredAtMs } = answer;
    const secondsOnTheWay = Math.floor(answeredAtMs / 1000) - Math.floor(sentAtMs / 1000);
    const lateNow = check.isBroughtNearer ? secondsOnTheWay : 0;
    if (margin + late - lateNow >= lastMargin) return verdict;
    if (lateNow > late) {
      timesLate += 1;
      late = lateNow;
    }
    if (timesLate === MAX_LATE) {
      return skip(
        `not known: each answer took longer, up to ${late} s, so the endpoint may have checked X-Timestamp too late`,
      );
    }
    margin = Math.min(margin + 1, lastMargin);
  }
}

async function attempt(
  stage: Stage,
  { aheadSeconds: aheadOf, expected, isBroughtNearer }: TimestampCheck,
  margin: number,
): Promise<{ answer: Answer; verdict: CheckVerdict }> {
  const { clock, signal } = stage.options;
  const payment = await stage.createPayment();
  // Whole seconds are compared: a request sent as a second begins is checked in the same second.
  const intoSecondMs = clock.now() % 1000;
  if (isBroughtNearer && intoSecondMs > SECOND_BEGINS_MS) {
    await clock.pause(1000 - intoSecondMs, signal);
  }
  const aheadSeconds = aheadOf(stage.options.toleranceSeconds, margin);
  const request = stage.signer.sign(stage.createRecord(payment), { aheadSeconds });
  const isToBeRefused = expected === 'refused';
  const answer = await (isToBeRefused ? stage.forge(payment, request) : stage.deliver(request));
  const what = `signed ${Math.abs(aheadSeconds)} s ${aheadSeconds > 0 ? 'ahead' : 'ago'}`;
  const verdict = isToBeRefused ? judgeRefused(what, answer) : judgeAccepted(what, answer);
  const note =
    verdict.outcome === 'passed' && margin > 1
      ? `, but not ${margin - 1} s closer to the limit: its clock or network is up to ${margin - 1} s off`
      : '';
  return { answer, verdict: { ...verdict, detail: verdict.detail + note + describeClock(answer) } };
}

/** Whether the edge of the window may explain an unexpected answer. */
function mayBeEdge({ expected }: TimestampCheck, answer: Answer): boolean {
  const { status = 0 } = answer;
  if (expected === 'refused') return isAccepted(answer);
  return status >= 400 && status < 500 && status !== 429;
}

const toScenario = (check: TimestampCheck): Scenario => ({
  ids: [check.id],
  run: async (stage) => ({ [check.id]: await run(stage, check) }),
});

export const staleTimestamp: Scenario = toScenario({
  id: 'stale-timestamp',
  expected: 'refused',
  aheadSeconds: (tolerance, margin) => -(tolerance + margin),
  isBroughtNearer: false,
});

export const futureTimestamp: Scenario = toScenario({
  id: 'future-timestamp',
  expected: 'refused',
  aheadSeconds: (tolerance, margin) => tolerance + margin,
  isBroughtNearer: true,
});

export const delayedCallback: Scenario = toScenario({
  id: 'delayed-callback',
  expected: 'accepted',
  aheadSeconds: (tolerance, margin) => -(tolerance - margin),
  isBroughtNearer: true,
});
