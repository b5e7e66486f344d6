import { performance } from 'node:perf_hooks';
import { RequestAbortedError } from '../../errors.js';
import { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { createProbe } from './effect-probe.js';
import { Endpoint } from './endpoint.js';
import {
  type CheckCallbackEndpointOptions,
  type ResolvedCheckOptions,
  resolveCheckOptions,
} from './options.js';
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
import { unusualCallbacks } from './scenarios/bodies.js';
import { duplicateInTurn, duplicatesAtOnce, resignedRetry } from './scenarios/duplicates.js';
import { forgeries } from './scenarios/forgeries.js';
import { olderChange, secondChange } from './scenarios/order.js';
import { refusedEffects } from './scenarios/refused-effects.js';
import { largeBody } from './scenarios/size.js';
import { timestampAcceptances, timestampRefusals } from './scenarios/timestamps.js';
import { Signer } from './signer.js';
import { Stage } from './stage.js';
import { CheckFailure, type CheckVerdict, fail, skip } from './verdict.js';

const SCENARIOS: readonly Scenario[] = [
  acknowledgement,
  ...forgeries,
  ...timestampRefusals,
  refusedEffects,
  ...timestampAcceptances,
  ...unusualCallbacks,
  duplicateInTurn,
  duplicatesAtOnce,
  resignedRetry,
  secondChange,
  olderChange,
  largeBody,
];

/** Without it a refusal says nothing about what was wrong with the callback. */
const PREMISE = 'valid-accepted';

/**
 * Checks a merchant's own callback endpoint over HTTP (interface sections 4.2, 5.2 and 6): that it
 * accepts what the service sends, refuses what it does not, and acts once on each change, whatever
 * is delivered twice, at once, late or out of order. About 35 requests, one check after the other,
 * each on payments of its own that do not exist at the service.
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
  const checks: EndpointCheck[] = [];
  for (const scenario of SCENARIOS) {
    const reason = findReasonToSkip(scenario, checks);
    const found = await runScenario(scenario, stage, reason);
    for (const check of found) {
      options.signal?.throwIfAborted();
      checks.push(check);
      options.onCheck?.(check);
    }
  }
  const { origin, pathname } = new URL(options.url);
  return createReport({
    url: origin + pathname,
    checks,
    latenciesMs: stage.latenciesMs,
    startedAt,
    durationMs: performance.now() - startedMs,
  });
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
): Promise<EndpointCheck[]> {
  const ids = Object.keys(scenario.checks) as EndpointCheckId[];
  const verdicts =
    reasonToSkip === undefined
      ? await findVerdicts(scenario, stage, ids)
      : new Map(ids.map((id) => [id, skip(reasonToSkip)]));
  const payments = stage.takePayments();
  return ids.map((id) =>
    createCheck(id, scenario.checks[id] as CheckText, {
      ...(verdicts.get(id) as CheckVerdict),
      payments,
    }),
  );
}

async function findVerdicts(
  { run }: Scenario,
  stage: Stage,
  ids: readonly EndpointCheckId[],
): Promise<ReadonlyMap<EndpointCheckId, CheckVerdict | undefined>> {
  try {
    const verdicts = await run(stage);
    return new Map(ids.map((id) => [id, verdicts[id]]));
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    // One reason is one failure.
    const { message } = error;
    return new Map(ids.map((id, index) => [id, index === 0 ? fail(message) : skip(message)]));
  }
}
