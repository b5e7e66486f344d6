import { performance } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { type CheckVerdict, fail, isAccepted, skip } from './answer.js';
import {
  checkTexts,
  type EndpointCheck,
  type EndpointCheckId,
  type EndpointReport,
} from './checks.js';
import { asCheckFailure } from './effects.js';
import {
  type CheckCallbackEndpointOptions,
  type CheckClock,
  type CheckSurroundings,
  type ResolvedCheckOptions,
  resolveCheckOptions,
} from './options.js';
import { scenarios } from './scenarios.js';
import { type Findings, type Scenario, Stage } from './stage.js';

/**
 * Checks your own callback endpoint over HTTP (interface sections 4.2, 5.2 and 6). It must accept what the service
 * sends, refuse everything else, and act once on each change, even if callbacks arrive twice, at once, late or out of
 * order. It sends 36 requests, one check after the other, for made-up payments
 * that do not exist at the service. Effects are checked at the end, after one wait.
 *
 * The endpoint acts on these callbacks, so run it against a test system. Only your own records show whether
 * it *acted* correctly, so give `countEffects`; without it those checks are `skipped`.
 *
 * One cause is one failure: checks that would fail for the same cause are skipped, and name it. Nothing else is
 * checked unless the endpoint answers, accepts a valid callback in time, refuses a forged one, and stays up. If
 * it refuses a valid callback, it is sent at most nine more, in forms that endpoints expect by mistake; `remedy` then
 * explains the one that it accepts.
 *
 * The report has everything that the checks found, including network failures, which do not reject the promise.
 *
 * @throws {InvalidOptionError} when the URL or an option is invalid (the promise rejects)
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
  return checkWithin(url, options, { clock: systemClock, largeBodyBytes: 8 * 1024 * 1024 });
}

export const systemClock: CheckClock = {
  now: () => Date.now(),
  elapsedMs: () => performance.now(),
  pause: (milliseconds) => sleep(milliseconds),
  startTimer(run, milliseconds) {
    const timer = setTimeout(run, milliseconds);
    return () => clearTimeout(timer);
  },
};

/** As {@link checkCallbackEndpoint}, in surroundings of the caller's. */
export async function checkWithin(
  url: string | URL,
  options: CheckCallbackEndpointOptions,
  surroundings: CheckSurroundings,
): Promise<EndpointReport> {
  const resolved = resolveCheckOptions(url, options, surroundings);
  const { timeoutMs, clock } = resolved;
  // An endpoint with a single thread would serve a kept connection alone.
  const sender = new CallbackSender({ timeoutMs, startTimer: clock.startTimer, reset: true });
  try {
    return await runChecks(resolved, sender);
  } finally {
    await sender.close();
  }
}

/** Runs all scenarios, and reports. */
async function runChecks(
  options: ResolvedCheckOptions,
  sender: CallbackSender,
): Promise<EndpointReport> {
  const stage = new Stage(options, sender);
  const run = new Run(stage);
  await run.decideAll();
  const { checks, cause } = run;
  const count = (wanted: EndpointCheck['outcome']): number =>
    checks.filter(({ outcome }) => outcome === wanted).length;
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  const { origin, pathname } = new URL(options.url);
  return Object.freeze({
    url: origin + pathname,
    passed: counts.failed === 0 && stage.hasAccepted,
    ...(cause !== undefined && { cause }),
    checks: Object.freeze(checks),
    counts: Object.freeze(counts),
  });
}

type Cause = Pick<EndpointCheck, 'id' | 'detail'>;

interface PendingCheck {
  readonly id: EndpointCheckId;
  readonly finding: Findings[EndpointCheckId];
  readonly referenceNumbers: readonly string[];
}

/** Decides the checks in their order, and skips those that an earlier failure explains. */
class Run {
  readonly checks: EndpointCheck[] = [];
  readonly #stage: Stage;
  /** The failure for which the rest is skipped. */
  #end: Cause | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async decideAll(): Promise<void> {
    const effects: PendingCheck[] = [];
    if (this.#stage.options.countEffects !== undefined) {
      // A payment that stays without a callback, to compare with.
      await this.#stage.createPayment().catch(asCheckFailure);
      this.#stage.takeReferences();
    }
    for (const scenario of scenarios) {
      const findings = await this.#find(scenario);
      const referenceNumbers = this.#stage.takeReferences();
      for (const id of scenario.ids) {
        const pending = { id, finding: findings[id], referenceNumbers };
        if (id.endsWith('-effect')) effects.push(pending);
        else await this.#decide(pending);
      }
    }
    const { accepted, effects: counted } = this.#stage;
    if (this.#end === undefined) await counted.settle(accepted.paid, accepted.last);
    for (const pending of effects) await this.#decide(pending);
  }

  async #decide(pending: PendingCheck): Promise<void> {
    const verdict = await this.#verdictOf(pending);
    const check = createCheck(pending.id, verdict, pending.referenceNumbers);
    this.checks.push(check);
    if (verdict.isFatal) this.#end ??= check;
  }

  #verdictOf({ id, finding }: PendingCheck): CheckVerdict | Promise<CheckVerdict> {
    const cause = this.#explain(id);
    if (cause) return skip(`not tried, because "${cause.id}" failed: ${cause.detail}`);
    if (typeof finding === 'function') return this.#stage.effects.check(finding);
    return finding ?? skip('not tried: its callbacks were not accepted');
  }

  /** Returns the failed check that explains this one. */
  #explain(id: EndpointCheckId): Cause | undefined {
    if (this.#end !== undefined) return this.#end.id === id ? undefined : this.#end;
    for (const other of checkTexts[id].explainedBy ?? []) {
      const check = this.checks.find((one) => one.id === other);
      if (check?.outcome === 'failed') return check;
      // A check that was skipped without a failure explains nothing.
      const cause = check?.outcome === 'skipped' ? this.#explain(other) : undefined;
      if (cause !== undefined) return cause;
    }
    return undefined;
  }

  /** The failure to look at first. */
  get cause(): string | undefined {
    return this.#end?.id ?? this.checks.find(({ outcome }) => outcome === 'failed')?.id;
  }

  async #find(scenario: Scenario): Promise<Findings> {
    const [first] = scenario.ids;
    if (this.#explain(first) !== undefined) return {};
    const stage = this.#stage;
    try {
      const findings = await scenario.run(stage);
      const refusal = Object.values(findings).find(isRefusal);
      const outage = refusal && (await stage.findOutage(`"${first}" (${refusal.detail})`));
      if (outage) this.#end ??= { id: 'available', detail: outage.detail };
      return findings;
    } catch (error) {
      const { message } = asCheckFailure(error);
      const failure: CheckVerdict = {
        ...fail(message),
        remedy:
          'Make the option merchantPaymentReference return the reference of a stored order each time it is called, within the timeout.',
        isFatal: stage.accepted.paid === undefined,
      };
      // One cause is one failure.
      const others = scenario.ids.map((id) => [id, skip(`not tried: ${message}`)]);
      return { ...Object.fromEntries(others), [first]: failure };
    }
  }
}

/** Whether the endpoint may have stopped accepting callbacks. */
const isRefusal = (finding: Findings[EndpointCheckId]): finding is CheckVerdict =>
  typeof finding === 'object' &&
  finding.outcome === 'failed' &&
  !finding.isFatal &&
  finding.answer !== undefined &&
  !isAccepted(finding.answer);

function createCheck(
  id: EndpointCheckId,
  verdict: CheckVerdict,
  referenceNumbers: readonly string[],
): EndpointCheck {
  const { title, fix, paste: usual } = checkTexts[id];
  const { outcome, detail, answer, remedy = fix } = verdict;
  const paste = verdict.paste ?? (verdict.remedy === undefined ? usual : undefined);
  const quote = outcome === 'failed' ? answer?.quote?.() : undefined;
  return Object.freeze({
    id,
    title,
    outcome,
    detail,
    remedy,
    ...(paste !== undefined && { paste }),
    ...(answer?.status !== undefined && { status: answer.status }),
    ...(quote && { answer: quote }),
    referenceNumbers: Object.freeze([...referenceNumbers]),
  });
}
