import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { isAccepted } from './answer.js';
import { checkTexts } from './check-texts.js';
import { asCheckFailure } from './effects.js';
import type { ResolvedCheckOptions } from './options.js';
import {
  type EndpointCheck,
  type EndpointCheckId,
  type EndpointReport,
  roundMs,
  summarize,
} from './report.js';
import { scenarios } from './scenarios.js';
import { type Findings, type Scenario, Stage } from './stage.js';
import { type CheckVerdict, fail, skip } from './verdict.js';

/** Runs all scenarios, and reports. */
export async function runChecks(
  options: ResolvedCheckOptions,
  sender: CallbackSender,
): Promise<EndpointReport> {
  const { clock } = options;
  const startedAt = new Date(clock.now()).toISOString();
  const startedMs = clock.elapsedMs();
  const stage = new Stage(options, sender);
  const run = new Run(stage);
  await run.decideAll();
  const { checks, cause } = run;
  const count = (wanted: EndpointCheck['outcome']): number =>
    checks.filter(({ outcome }) => outcome === wanted).length;
  const counts = { passed: count('passed'), failed: count('failed'), skipped: count('skipped') };
  const acknowledgeMs = summarize(stage.latenciesMs);
  const { origin, pathname } = new URL(options.url);
  return Object.freeze({
    url: origin + pathname,
    passed: counts.failed === 0 && acknowledgeMs !== undefined,
    ...(cause !== undefined && { cause }),
    checks: Object.freeze(checks),
    counts: Object.freeze(counts),
    ...(acknowledgeMs !== undefined && { acknowledgeMs }),
    startedAt,
    durationMs: roundMs(clock.elapsedMs() - startedMs),
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
  readonly #lesser = new Set<EndpointCheckId>();
  /** The failure for which the rest is skipped. */
  #end: Cause | undefined;

  constructor(stage: Stage) {
    this.#stage = stage;
  }

  async decideAll(): Promise<void> {
    const effects: PendingCheck[] = [];
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
    const { signal, onCheck } = this.#stage.options;
    signal?.throwIfAborted();
    const check = createCheck(pending.id, verdict, pending.referenceNumbers);
    this.checks.push(check);
    if (verdict.isLesser) this.#lesser.add(check.id);
    if (verdict.isFatal) this.#end ??= check;
    onCheck?.(check);
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
    // Every check of effects needs the count.
    const counted: readonly EndpointCheckId[] = id.endsWith('-effect') ? ['probe-answers'] : [];
    for (const other of [...counted, ...(checkTexts[id].explainedBy ?? [])]) {
      const check = this.checks.find((one) => one.id === other);
      if (check?.outcome === 'failed') return check;
      // A check that was skipped without a failure explains nothing.
      const cause = check?.outcome === 'skipped' ? this.#explain(other) : undefined;
      if (cause !== undefined) return cause;
    }
    return undefined;
  }

  /** The failure to look at first. */
  get cause(): EndpointCheckId | undefined {
    const failed = this.checks.filter(({ outcome }) => outcome === 'failed').map(({ id }) => id);
    return this.#end?.id ?? failed.find((id) => !this.#lesser.has(id)) ?? failed[0];
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
          'Make merchantPaymentReference return the reference of a stored order each time it is called, within the timeout.',
        option: 'merchantPaymentReference',
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
  const { title, why, fix, paste: usual } = checkTexts[id];
  const { outcome, detail, answer, option, remedy = fix } = verdict;
  const paste = verdict.paste ?? (verdict.remedy === undefined ? usual : undefined);
  const quote = outcome === 'failed' ? answer?.quote?.() : undefined;
  return Object.freeze({
    id,
    title,
    outcome,
    detail,
    why,
    remedy,
    ...(paste !== undefined && { paste }),
    ...(option !== undefined && { option }),
    ...(answer?.status !== undefined && { status: answer.status }),
    ...(answer !== undefined && { latencyMs: roundMs(answer.latencyMs) }),
    ...(quote && { answer: quote }),
    referenceNumbers: Object.freeze([...referenceNumbers]),
  });
}
