import { performance } from 'node:perf_hooks';
import { RequestAbortedError } from '../../errors.js';
import { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { createProbe, type EffectJudgement } from './effect-probe.js';
import { Endpoint } from './endpoint.js';
import {
  type CheckCallbackEndpointOptions,
  type ResolvedCheckOptions,
  resolveCheckOptions,
} from './options.js';
import type { CheckedPayment } from './payment.js';
import {
  type CheckText,
  createCheck,
  createReport,
  type EndpointCheck,
  type EndpointCheckId,
  type EndpointReport,
} from './report.js';
import type { Scenario } from './scenario.js';
import { acknowledgement } from './scenarios/acknowledgement.js';
import { alteredSignature } from './scenarios/altered-signature.js';
import { unusualCallbacks } from './scenarios/bodies.js';
import { duplicateInTurn, duplicatesAtOnce, resignedRetry } from './scenarios/duplicates.js';
import { forgeries } from './scenarios/forgeries.js';
import { malformedBody } from './scenarios/malformed-body.js';
import { latePaid, olderChange, secondChange } from './scenarios/order.js';
import { overtaking } from './scenarios/overtaking.js';
import { refusedEffects } from './scenarios/refused-effects.js';
import { secondPayment } from './scenarios/second-payment.js';
import { largeBody } from './scenarios/size.js';
import { timestamps } from './scenarios/timestamps.js';
import { unknownStatus } from './scenarios/unknown-status.js';
import { Signer } from './signer.js';
import { Stage } from './stage.js';
import { CheckFailure, type CheckVerdict, fail, skip } from './verdict.js';

const SCENARIOS: readonly Scenario[] = [
  acknowledgement,
  ...forgeries,
  alteredSignature,
  malformedBody,
  ...timestamps,
  refusedEffects,
  ...unusualCallbacks,
  unknownStatus,
  duplicateInTurn,
  duplicatesAtOnce,
  resignedRetry,
  secondChange,
  olderChange,
  latePaid,
  secondPayment,
  overtaking,
  largeBody,
];

/** Without it a refusal says nothing about what was wrong with the callback. */
const PREMISE = 'valid-accepted';

/**
 * Checks a merchant's own callback endpoint over HTTP (interface sections 4.2, 5.2 and 6): that it
 * accepts what the service sends, refuses what it does not, and acts once on each change, whatever
 * is delivered twice, at once, late or out of order. About 50 requests, one check after the other,
 * each on payments of its own that do not exist at the service; what only shows in effects is judged
 * at the end, after one wait.
 *
 * The endpoint acts on these callbacks: run it against a test system. Whether it *acted* rightly
 * only your own records tell, so give a probe, `countEffects` or `effectUrl`; without one those
 * checks are `skipped`. When a valid callback is not accepted, everything else is skipped.
 *
 * What a check found is in the report, network failures included; nothing of it rejects.
 *
 * @throws {InvalidOptionError} when the URL or an option can't be right (the promise rejects)
 * @throws {RequestAbortedError} when `signal` aborted
 *
 * @example
 * ```ts
 * import { checkCallbackEndpoint } from 'merchant-payments/testing';
 *
 * const shipments = new Map<string, number>(); // what your code did, by referenceNumber
 *
 * const report = await checkCallbackEndpoint('http://127.0.0.1:3000/callbacks/payments', {
 *   signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
 *   countEffects: ({ referenceNumber }) => shipments.get(referenceNumber) ?? 0,
 * });
 * for (const { outcome, title, detail, remedy } of report.checks) {
 *   if (outcome === 'failed') console.error(`${title}: ${detail}. ${remedy}`);
 * }
 * ```
 */
export async function checkCallbackEndpoint(
  url: string | URL,
  options: CheckCallbackEndpointOptions,
): Promise<EndpointReport> {
  const resolved = resolveCheckOptions(url, options);
  const { signal, timeoutMs } = resolved;
  const sender = new CallbackSender(timeoutMs);
  const breakOff = (): void => sender.abort();
  signal?.addEventListener('abort', breakOff);
  try {
    return await runScenarios(resolved, sender);
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new RequestAbortedError('The check of the callback endpoint was aborted by its signal');
  } finally {
    signal?.removeEventListener('abort', breakOff);
    sender.close();
  }
}

async function runScenarios(
  options: ResolvedCheckOptions,
  sender: CallbackSender,
): Promise<EndpointReport> {
  const startedAt = new Date();
  const startedMs = performance.now();
  const stage = new Stage({
    options,
    signer: new Signer(options),
    endpoint: new Endpoint(sender, options),
    probe: createProbe(options, sender),
  });
  const checks = await collectChecks(stage);
  const { origin, pathname } = new URL(options.url);
  return createReport({
    url: origin + pathname,
    checks,
    latenciesMs: stage.latenciesMs,
    startedAt,
    durationMs: performance.now() - startedMs,
  });
}

async function collectChecks(stage: Stage): Promise<EndpointCheck[]> {
  const { signal, onCheck } = stage.options;
  const checks: EndpointCheck[] = [];
  const effects: PendingCheck[] = [];
  const add = (check: EndpointCheck): void => {
    signal?.throwIfAborted();
    checks.push(check);
    onCheck?.(check);
  };
  await stage.begin();
  for (const scenario of SCENARIOS) {
    const pending = await runScenario(scenario, stage, findReasonToSkip(scenario, checks));
    for (const { isEffect, ...check } of pending) {
      if (isEffect) effects.push({ isEffect, ...check });
      else add(await decide(check, stage));
    }
  }
  if (effects.some(({ finding }) => typeof finding === 'function')) await stage.settle();
  for (const check of effects) add(await decide(check, stage));
  return checks;
}

interface DecidableCheck {
  readonly id: EndpointCheckId;
  readonly text: CheckText;
  readonly finding: CheckVerdict | EffectJudgement;
  readonly payments: readonly CheckedPayment[];
}

interface PendingCheck extends DecidableCheck {
  /** Decided when the run is over. */
  readonly isEffect: boolean;
}

async function decide(
  { id, text, finding, payments }: DecidableCheck,
  stage: Stage,
): Promise<EndpointCheck> {
  const verdict = typeof finding === 'function' ? await stage.judgeEffects(finding) : finding;
  return createCheck(id, text, { ...verdict, payments });
}

function findReasonToSkip(
  { needs }: Scenario,
  checks: readonly EndpointCheck[],
): string | undefined {
  const unmet = checks.find(
    ({ id, outcome }) => (id === PREMISE || id === needs) && outcome !== 'passed',
  );
  if (unmet === undefined) return undefined;
  const cause =
    unmet.outcome === 'skipped' ? checks.find(({ outcome }) => outcome === 'failed') : unmet;
  return `not tried, since "${cause?.id ?? unmet.id}" did not pass: ${cause?.detail ?? unmet.detail}`;
}

async function runScenario(
  scenario: Scenario,
  stage: Stage,
  reasonToSkip: string | undefined,
): Promise<PendingCheck[]> {
  const texts = { ...scenario.checks, ...scenario.effects };
  const ids = Object.keys(texts) as EndpointCheckId[];
  const findings =
    reasonToSkip === undefined
      ? await findVerdicts(scenario, stage, ids)
      : new Map(ids.map((id) => [id, skip(reasonToSkip)]));
  const payments = stage.takePayments();
  return ids.map((id) => ({
    id,
    text: texts[id] as CheckText,
    finding: findings.get(id) as CheckVerdict | EffectJudgement,
    payments,
    isEffect: !(id in scenario.checks),
  }));
}

async function findVerdicts(
  { run }: Scenario,
  stage: Stage,
  ids: readonly EndpointCheckId[],
): Promise<ReadonlyMap<EndpointCheckId, CheckVerdict | EffectJudgement | undefined>> {
  try {
    const findings = await run(stage);
    return new Map(ids.map((id) => [id, findings[id]]));
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    // One reason is one failure.
    const { message } = error;
    return new Map(ids.map((id, index) => [id, index === 0 ? fail(message) : skip(message)]));
  }
}
