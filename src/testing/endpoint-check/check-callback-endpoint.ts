import { performance } from 'node:perf_hooks';
import { RequestAbortedError } from '../../errors.js';
import { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { checkTexts } from './check-texts.js';
import {
  type CheckCallbackEndpointOptions,
  type ResolvedCheckOptions,
  resolveCheckOptions,
} from './options.js';
import {
  createCheck,
  createReport,
  type EndpointCheck,
  type EndpointCheckId,
  type EndpointReport,
} from './report.js';
import { scenarios } from './scenarios.js';
import { type Findings, type Scenario, Stage } from './stage.js';
import { CheckFailure, fail, skip } from './verdict.js';

/** Without it a refusal says nothing about what was wrong with the callback. */
const PREMISE: EndpointCheckId = 'valid-accepted';

/**
 * Checks a merchant's own callback endpoint over HTTP (interface sections 4.2, 5.2 and 6): that it
 * accepts what the service sends, refuses what it does not, and acts once on each change, whatever
 * is delivered twice, at once, late or out of order. About 50 requests, one check after the other,
 * each on made up payments that do not exist at the service; what only shows in effects is judged
 * at the end, after one wait.
 *
 * The endpoint acts on these callbacks: run it against a test system. Only your own records show
 * whether it *acted* rightly, so give `countEffects`; without it those checks are `skipped`. When a
 * valid callback is not accepted, everything else is skipped.
 *
 * What a check found is in the report, network failures included; nothing of it rejects.
 *
 * @throws {InvalidOptionError} when the URL or an option is invalid (the promise rejects)
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
  const abort = (): void => sender.abort();
  signal?.addEventListener('abort', abort);
  try {
    return await runChecks(resolved, sender);
  } catch (error) {
    if (!signal?.aborted) throw error;
    throw new RequestAbortedError('The check of the callback endpoint was aborted by its signal', {
      requestOutcome: 'not-sent',
    });
  } finally {
    signal?.removeEventListener('abort', abort);
    sender.close();
  }
}

async function runChecks(
  options: ResolvedCheckOptions,
  sender: CallbackSender,
): Promise<EndpointReport> {
  const startedAt = new Date();
  const startedMs = performance.now();
  const stage = new Stage(options, sender);
  const checks = await collectChecks(stage);
  const { origin, pathname } = new URL(options.url);
  const { latenciesMs } = stage;
  const durationMs = performance.now() - startedMs;
  return createReport({ url: origin + pathname, checks, latenciesMs, startedAt, durationMs });
}

interface PendingCheck {
  readonly id: EndpointCheckId;
  readonly finding: Findings[EndpointCheckId];
  readonly referenceNumbers: readonly string[];
}

async function collectChecks(stage: Stage): Promise<EndpointCheck[]> {
  const { signal, onCheck } = stage.options;
  const checks: EndpointCheck[] = [];
  const effects: PendingCheck[] = [];
  const decide = async ({ id, finding, referenceNumbers }: PendingCheck): Promise<void> => {
    const verdict = typeof finding === 'function' ? await stage.judgeEffects(finding) : finding;
    signal?.throwIfAborted();
    const check = createCheck(id, checkTexts[id], {
      ...(verdict ?? skip('not tried')),
      referenceNumbers,
    });
    checks.push(check);
    onCheck?.(check);
  };
  await stage.begin();
  for (const scenario of scenarios) {
    const findings = await findFindings(scenario, stage, findReasonToSkip(scenario, checks));
    const referenceNumbers = stage.takeReferences();
    for (const id of scenario.ids) {
      const pending = { id, finding: findings[id], referenceNumbers };
      if (id.endsWith('-effect')) effects.push(pending);
      else await decide(pending);
    }
  }
  if (effects.some(({ finding }) => typeof finding === 'function')) await stage.settle();
  for (const pending of effects) await decide(pending);
  return checks;
}

function findReasonToSkip(
  { needs }: Scenario,
  checks: readonly EndpointCheck[],
): string | undefined {
  const unmet = checks.find(
    ({ id, outcome }) => (id === PREMISE || id === needs) && outcome !== 'passed',
  );
  if (unmet === undefined) return undefined;
  const failed = checks.find(({ outcome }) => outcome === 'failed');
  const { id, detail } = (unmet.outcome === 'skipped' && failed) || unmet;
  return `not tried, since "${id}" did not pass: ${detail}`;
}

async function findFindings(
  { ids, run }: Scenario,
  stage: Stage,
  reasonToSkip: string | undefined,
): Promise<Findings> {
  const all = (reason: string): Findings => Object.fromEntries(ids.map((id) => [id, skip(reason)]));
  if (reasonToSkip !== undefined) return all(reasonToSkip);
  try {
    return await run(stage);
  } catch (error) {
    if (!(error instanceof CheckFailure)) throw error;
    // One reason is one failure.
    const [first] = ids;
    return { ...all(error.message), ...(first && { [first]: fail(error.message) }) };
  }
}
