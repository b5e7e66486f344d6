import { performance } from 'node:perf_hooks';
import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { type Answer, describeAnswer, isAccepted } from '../endpoint-check/answer.js';
import { createRecord, type SignedRequest } from '../endpoint-check/callbacks.js';
import {
  describeCount,
  describeThrown,
  EXPIRED,
  pause,
  withDeadline,
} from '../endpoint-check/effect-probe.js';
import type { CheckedPayment } from '../endpoint-check/options.js';
import type { Stage } from '../endpoint-check/stage.js';
import { CheckFailure } from '../endpoint-check/verdict.js';
import type { ExplorationInvariant } from './invariants.js';
import {
  type DeliverStep,
  type ExplorationStep,
  type ExploredChange,
  exploredChanges,
} from './script.js';

/** How long a restart may take until the endpoint answers. */
const RESTART_MS = 60_000;
const POLL_MS = 50;

const RECORDS = {
  // Compared as text, its time is later than those of the newer changes.
  before: { status: 'check_earlier_status', afterSeconds: 10, offsetHours: 5 },
  paid: { status: 'paid', afterSeconds: 20 },
  after: { status: 'check_later_status', afterSeconds: 30 },
} as const;

/** A payment of a script that ran. */
export interface RunPayment {
  readonly payment: CheckedPayment;
  /** Its changes that arrived completely, answered or not. */
  readonly arrived: Set<ExploredChange>;
  /** The changes of the script that were not acknowledged yet. */
  readonly unacknowledged: Set<ExploredChange>;
  /** The body of each change. */
  readonly bodies: Readonly<Record<ExploredChange, string>>;
}

/** The invariant that was broken, and what was seen. */
export interface Violation {
  readonly invariant: ExplorationInvariant;
  readonly detail: string;
}

/** A script that ran. */
export interface ScriptRun {
  /** By number. */
  readonly payments: Payments;
  /** What was broken during the run. */
  readonly violation: Violation | undefined;
}

type Payments = ReadonlyMap<number, RunPayment>;
type Sign = (body: string, lateSeconds?: number) => SignedRequest;

/** What a run needs. */
export interface RunTools {
  readonly stage: Stage;
  readonly sender: CallbackSender;
  readonly restart: (() => void | PromiseLike<void>) | undefined;
  /** Returns how many effects these changes have; `undefined` until it is known. */
  readonly effectsOf: (arrived: ReadonlySet<ExploredChange>) => number | undefined;
}

/**
 * Runs a script with new payments. At the end it delivers unacknowledged callbacks until they are acknowledged,
 * as the service does.
 *
 * @throws {CheckFailure} when the probe, a reference or the restart fails
 */
export async function runScript(
  script: readonly ExplorationStep[],
  tools: RunTools,
): Promise<ScriptRun> {
  const payments = await createPayments(script, tools.stage);
  const sign = createSign(tools.stage);
  for (const group of groupSteps(script)) {
    const violation = await runSteps(group, payments, { ...tools, sign });
    if (violation !== undefined) return { payments, violation };
  }
  return { payments, violation: await deliverRest(payments, tools.stage, sign) };
}

/**
 * Signs with the time of the first callback while it is fresh. With the current time, the moment of the run
 * would decide whether two deliveries have the same signature.
 */
function createSign({ signer, options }: Stage): Sign {
  let nowMs = Date.now();
  return (body, lateSeconds = 0) => {
    if (Date.now() - nowMs > options.toleranceSeconds * 250) nowMs = Date.now();
    return signer.sign(body, { timestamp: signer.timestampOf(-lateSeconds, nowMs) });
  };
}

async function runSteps(
  [step, ...others]: Group,
  payments: Payments,
  tools: RunTools & { readonly sign: Sign },
): Promise<Violation | undefined> {
  if (step.do === 'restart') return restartEndpoint(tools);
  if (step.do === 'deliver') return deliver([step, ...(others as DeliverStep[])], payments, tools);
  const payment = payments.get(step.payment) as RunPayment;
  if (!payment.arrived.has(step.change)) payment.unacknowledged.add(step.change);
  if (step.do === 'lose-answer') payment.arrived.add(step.change);
  const request = tools.sign(payment.bodies[step.change]);
  if (step.do === 'lose-answer') {
    await tools.stage.breakOff(request, 1);
    return undefined;
  }
  const surplus = await findSurplus('once', payment, tools);
  if (surplus !== undefined) return surplus;
  await tools.stage.breakOff(request, 0.5);
  return findSurplus('no-early-effect', payment, tools);
}

async function deliver(
  steps: readonly DeliverStep[],
  payments: Payments,
  { stage, sign }: { readonly stage: Stage; readonly sign: Sign },
): Promise<undefined> {
  const requests = steps.map(({ payment, change, lateSeconds }) => {
    const { bodies, arrived, unacknowledged } = payments.get(payment) as RunPayment;
    if (!arrived.has(change)) unacknowledged.add(change);
    arrived.add(change);
    return sign(bodies[change], lateSeconds);
  });
  const [only] = requests as [SignedRequest];
  const answers =
    requests.length > 1 ? await stage.sendAtOnce(requests) : [await stage.deliver(only)];
  for (const [index, { payment, change }] of steps.entries()) {
    if (!isAccepted(answers[index] as Answer)) continue;
    payments.get(payment)?.unacknowledged.delete(change);
  }
}

/** Delivers unacknowledged callbacks until they are acknowledged. */
async function deliverRest(
  payments: Payments,
  stage: Stage,
  sign: Sign,
): Promise<Violation | undefined> {
  for (const [number, { unacknowledged, arrived, bodies }] of payments) {
    for (const change of unacknowledged) {
      arrived.add(change);
      const answer = await stage.deliverUntilAccepted(sign(bodies[change]));
      if (isAccepted(answer)) continue;
      const detail = `${change} of payment ${number}: the endpoint ${describeAnswer(answer)}`;
      return { invariant: 'accepted', detail };
    }
  }
  return undefined;
}

async function createPayments(
  script: readonly ExplorationStep[],
  stage: Stage,
): Promise<Map<number, RunPayment>> {
  const payments = new Map<number, RunPayment>();
  for (const step of script) {
    if (step.do === 'restart' || payments.has(step.payment)) continue;
    const payment = await stage.createPayment();
    const write = (change: ExploredChange) =>
      JSON.stringify(createRecord(payment, RECORDS[change]));
    const bodies = { before: write('before'), paid: write('paid'), after: write('after') };
    const sets = { arrived: new Set<ExploredChange>(), unacknowledged: new Set<ExploredChange>() };
    payments.set(step.payment, { payment, bodies, ...sets });
  }
  return payments;
}

type Group = readonly [ExplorationStep, ...ExplorationStep[]];

/** Groups the steps that happen at once. */
function groupSteps(script: readonly ExplorationStep[]): Group[] {
  const groups: [ExplorationStep, ...ExplorationStep[]][] = [];
  for (const step of script) {
    const last = groups.at(-1);
    if (step.do === 'deliver' && step.atOnce && last?.[0].do === 'deliver') last.push(step);
    else groups.push([step]);
  }
  return groups;
}

/** Finds more effects than those of the changes that arrived, before or after a callback is dropped. */
async function findSurplus(
  invariant: ExplorationInvariant,
  { payment, arrived }: RunPayment,
  { stage, effectsOf }: RunTools,
): Promise<Violation | undefined> {
  const most = effectsOf(arrived);
  if (most === undefined) return undefined;
  const ask = () => look(stage, (probe) => probe.askAfterPause(payment));
  const count = await ask().catch(async (error) => {
    // The probe may be in the endpoint's process, which a broken connection can end.
    const outage =
      error instanceof CheckFailure ? await stage.findOutage('a broken connection') : undefined;
    return outage ?? ask();
  });
  if ('outcome' in count) return { invariant: 'accepted', detail: count.detail };
  if (count.effects <= most) return undefined;
  const what = arrived.size === 0 ? 'nothing' : nameChanges(arrived);
  const when = invariant === 'once' ? 'before' : 'after';
  const detail = `countEffects returned ${describeCount(count)} ${when} a callback was dropped halfway, but at most ${most} was expected: of its payment, ${what} had arrived`;
  return { invariant, detail };
}

/** `before, paid`. */
export const nameChanges = (changes: ReadonlySet<ExploredChange>): string =>
  exploredChanges.filter((change) => changes.has(change)).join(', ');

/** @throws {CheckFailure} when the probe fails */
export async function look<Seen>(
  stage: Stage,
  ask: Parameters<typeof stage.observe<Seen>>[0],
): Promise<Seen> {
  const seen = await stage.observe(ask);
  if (seen instanceof CheckFailure) throw seen;
  return seen as Seen;
}

export async function restartEndpoint({ stage, sender, restart }: RunTools): Promise<undefined> {
  if (restart === undefined) return undefined;
  const { signal, url } = stage.options;
  const endMs = performance.now() + RESTART_MS;
  const ended = await withDeadline(restart, { timeoutMs: RESTART_MS, signal }).catch((error) => {
    signal?.throwIfAborted();
    throw new CheckFailure(`restart threw ${describeThrown(error)}`);
  });
  for (;;) {
    // Any answer to a GET will do: it makes the endpoint process nothing.
    const { outcome } = await sender.get(url);
    const isUp = outcome === 'acknowledged' || outcome === 'refused';
    if (isUp && ended !== EXPIRED) return undefined;
    if (ended === EXPIRED || performance.now() > endMs) {
      throw new CheckFailure(`the endpoint did not answer within ${RESTART_MS} ms of its restart`);
    }
    await pause(POLL_MS, signal);
  }
}
