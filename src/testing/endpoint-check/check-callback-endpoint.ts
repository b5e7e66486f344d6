import { RequestAbortedError } from '../../errors.js';
import { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { isAccepted } from './answer.js';
import { Causes } from './causes.js';
import { checkTexts } from './check-texts.js';
import { type CheckClock, systemClock } from './clock.js';
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
import { asCheckFailure, type Findings, type Scenario, Stage } from './stage.js';
import { type CheckVerdict, fail, skip } from './verdict.js';

/**
 * Checks your own callback endpoint over HTTP (interface sections 4.2, 5.2 and 6). It must accept what the service
 * sends, refuse everything else, and act once on each change, even if callbacks arrive twice, at once, late or out of
 * order. It sends about 40 requests, one check after the other, for made-up payments
 * that do not exist at the service. Effects are judged at the end, after one wait.
 *
 * The endpoint acts on these callbacks, so run it against a test system. Only your own records show whether
 * it *acted* correctly, so give `countEffects`; without it those checks are `skipped`.
 *
 * One cause is one failure: checks that would fail for the same cause are skipped, and name it. Nothing else is
 * judged unless the endpoint answers, accepts a valid callback in time, refuses a forged one, and stays up. If
 * it refuses a valid callback, it is sent at most nine more, in forms that endpoints expect by mistake; `remedy` then
 * explains the one that it accepts.
 *
 * The report has everything that the checks found, including network failures, which do not reject the promise.
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
  return checkByClock(url, options, systemClock);
}

/** As {@link checkCallbackEndpoint}, by a clock of the caller's. */
export async function checkByClock(
  url: string | URL,
  options: CheckCallbackEndpointOptions,
  clock: CheckClock,
): Promise<EndpointReport> {
  const resolved = resolveCheckOptions(url, options, clock);
  const { signal, timeoutMs } = resolved;
  // An endpoint with a single thread would serve a kept connection alone.
  const sender = new CallbackSender({ timeoutMs, startTimer: clock.startTimer, reset: true });
  const abort = (): void => sender.abort();
  signal?.addEventListener('abort', abort);
  try {
    return await runChecks(resolved, sender);
  } catch (error) {
    if (!signal?.aborted) throw error;
    const message = 'The check of the callback endpoint was aborted by its signal';
    throw new RequestAbortedError(message, { requestOutcome: 'not-sent' });
  } finally {
    signal?.removeEventListener('abort', abort);
    await sender.close();
  }
}

async function runChecks(
  options: ResolvedCheckOptions,
  sender: CallbackSender,
): Promise<EndpointReport> {
  const { clock } = options;
  const startedAt = new Date(clock.now());
  const startedMs = clock.elapsedMs();
  const stage = new Stage(options, sender);
  const causes = new Causes();
  const checks = await collectChecks(stage, causes);
  const { origin, pathname } = new URL(options.url);
  return createReport({
    url: origin + pathname,
    cause: causes.first(),
    checks,
    latenciesMs: stage.latenciesMs,
    startedAt,
    durationMs: clock.elapsedMs() - startedMs,
  });
}

interface PendingCheck {
  readonly id: EndpointCheckId;
  readonly finding: Findings[EndpointCheckId];
  readonly referenceNumbers: readonly string[];
}

async function collectChecks(stage: Stage, causes: Causes): Promise<EndpointCheck[]> {
  const { signal, onCheck } = stage.options;
  const checks: EndpointCheck[] = [];
  const effects: PendingCheck[] = [];
  const judge = ({ id, finding }: PendingCheck): CheckVerdict | Promise<CheckVerdict> => {
    const cause = causes.of(id);
    if (cause) return skip(`not tried, because "${cause.id}" failed: ${cause.detail}`);
    if (typeof finding === 'function') return stage.judgeEffects(finding);
    return finding ?? skip('not tried: its callbacks were not accepted');
  };
  const decide = async (pending: PendingCheck): Promise<void> => {
    const { id, referenceNumbers } = pending;
    const verdict = await judge(pending);
    signal?.throwIfAborted();
    const check = createCheck(id, checkTexts[id], { ...verdict, referenceNumbers });
    checks.push(check);
    causes.add(check, verdict);
    onCheck?.(check);
  };
  for (const scenario of scenarios) {
    const findings = await findFindings(scenario, stage, causes);
    const referenceNumbers = stage.takeReferences();
    for (const id of scenario.ids) {
      const pending = { id, finding: findings[id], referenceNumbers };
      if (id.endsWith('-effect')) effects.push(pending);
      else await decide(pending);
    }
  }
  await stage.settle();
  for (const pending of effects) await decide(pending);
  return checks;
}

async function findFindings(scenario: Scenario, stage: Stage, causes: Causes): Promise<Findings> {
  const [first] = scenario.ids;
  if (causes.of(first) !== undefined) return {};
  try {
    const findings = await scenario.run(stage);
    const refusal = Object.values(findings).find(isRefusal);
    const outage = refusal && (await stage.findOutage(`"${first}" (${refusal.detail})`));
    if (outage) causes.end({ id: 'available', detail: outage.detail });
    return findings;
  } catch (error) {
    const { message } = asCheckFailure(error);
    const failure: CheckVerdict = {
      ...fail(message),
      remedy:
        'Make merchantPaymentReference return the reference of a stored order each time it is called, within the timeout.',
      option: 'merchantPaymentReference',
      isFatal: stage.accepted.paid === undefined,
    };
    // One cause is one failure.
    const others = scenario.ids.map((id) => [id, skip(`not tried: ${message}`)]);
    return { ...Object.fromEntries(others), [first]: failure };
  }
}

/** Whether the endpoint may have stopped accepting callbacks. */
const isRefusal = (finding: Findings[EndpointCheckId]): finding is CheckVerdict =>
  typeof finding === 'object' &&
  finding.outcome === 'failed' &&
  !finding.isFatal &&
  finding.answer !== undefined &&
  !isAccepted(finding.answer);
