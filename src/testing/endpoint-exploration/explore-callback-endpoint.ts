import { performance } from 'node:perf_hooks';
import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import type { CheckedPayment } from '../endpoint-check/options.js';
import { withSender } from '../endpoint-check/sender.js';
import { describeMixture, Stage } from '../endpoint-check/stage.js';
import { CheckFailure } from '../endpoint-check/verdict.js';
import { type ExplorationInvariant, invariants } from './invariants.js';
import { Judge, type SeenViolation } from './judge.js';
import {
  type ExploreCallbackEndpointOptions,
  type ResolvedExploreOptions,
  resolveExploreOptions,
} from './options.js';
import { createSchedule } from './schedule.js';
import type { ExplorationStep, ExploredChange } from './script.js';
import {
  look,
  type RunTools,
  restartEndpoint,
  runScript,
  type ScriptRun,
  type Violation,
} from './script-run.js';
import { type Shrunk, shrink } from './shrink.js';

/** A failure that {@link exploreCallbackEndpoint} found. */
export interface ExplorationFailure {
  /** What does not hold. `premise`: nothing was explored, because a prerequisite failed. */
  readonly invariant: ExplorationInvariant;
  /** What the endpoint should do, in one line. */
  readonly title: string;
  /** What was seen after the last run of `script` that failed. */
  readonly detail: string;
  /** Why it matters. */
  readonly why: string;
  /** What to do. */
  readonly remedy: string;
  /**
   * The steps that lead to it, in the form of the option `script`; after them, unacknowledged callbacks are
   * delivered until they are acknowledged. Empty for a `premise`.
   */
  readonly script: readonly ExplorationStep[];
  /** The number of the seed's schedule, from 1; absent when changes in order already fail. */
  readonly schedule?: number;
  /** How the script was shrunk; absent for a given script and for a `premise`. */
  readonly shrunk?: {
    /** How many steps it had. */
    readonly fromSteps: number;
    /** How many scripts were run, 200 at most. */
    readonly runs: number;
    /**
     * `complete`: without any one of its steps the script does not fail. `out-of-runs`, `out-of-time`: it may
     * have steps that are not needed. `not-again`: it did not fail a second time, so it was not shrunk.
     * `endpoint-down`: the endpoint then stopped accepting callbacks, and there was no `restart`.
     */
    readonly ended: Shrunk['ended'] | 'not-again' | 'endpoint-down';
  };
  /** The reference numbers of its last run, to find them in the endpoint's log. */
  readonly referenceNumbers: readonly string[];
}

/** The result of {@link exploreCallbackEndpoint}. It can be written as JSON. Contains no secret. */
export interface ExplorationReport {
  /** The endpoint, without its query, which may hold a token. */
  readonly url: string;
  /** Whether nothing failed. */
  readonly passed: boolean;
  /** Give it as `seed` to run the same schedules; absent with a script. */
  readonly seed?: number;
  /** How many schedules were requested; 0 with a script. */
  readonly schedules: number;
  /** How many of them ended, the failed one included. */
  readonly ran: number;
  /** What was left out or not judged, and why. */
  readonly leftOut: readonly string[];
  /** Absent when all passed. */
  readonly failure?: ExplorationFailure;
  /** When the run began: ISO 8601, UTC. */
  readonly startedAt: string;
  /** How long it took, in milliseconds. */
  readonly durationMs: number;
}

/** Surplus effects show late: the run waits for them once for this many schedules. */
const BATCH = 25;
const SHRINK_LIMITS = { maxRuns: 200, withinMs: 120_000 };
/** The longest wait for surplus effects, as in `checkCallbackEndpoint`. */
const LONGEST_QUIET_MS = 1_000;
const SHORTEST_QUIET_MS = 100;

const IN_ORDER: readonly (readonly ExploredChange[])[] = [
  ['paid'],
  ['before'],
  ['after'],
  ['before', 'paid'],
  ['paid', 'after'],
  ['before', 'after'],
  ['before', 'paid', 'after'],
];

/**
 * Looks for a sequence of events that breaks your callback endpoint: runs random schedules of callbacks that
 * are duplicated, reordered, late, dropped, sent at once, or acknowledged into a broken connection, with
 * restarts of the endpoint between them, and compares what your code did with what the callbacks report
 * (interface section 6). Shrinks a failing schedule to the shortest script that still fails, which the option
 * `script` runs again.
 *
 * Run `checkCallbackEndpoint` first: it names known causes. The endpoint acts on these callbacks, so run it
 * against a test system. All payments are made up.
 *
 * The report has everything that was found, including failures of the probe and of the network.
 *
 * @throws {InvalidOptionError} when the URL or an option is invalid (the promise rejects)
 * @throws {RequestAbortedError} when `signal` aborted
 *
 * @example
 * ```ts
 * import { exploreCallbackEndpoint } from 'merchant-payments/testing';
 *
 * const shipments = new Map<string, number>(); // what your code did, by referenceNumber
 *
 * const { failure } = await exploreCallbackEndpoint('http://127.0.0.1:3000/callbacks/payments', {
 *   signingSecret: process.env.MERCHANT_PAYMENTS_SIGNING_SECRET ?? '',
 *   countEffects: ({ referenceNumber }) => shipments.get(referenceNumber) ?? 0,
 *   schedules: 50,
 * });
 * if (failure) console.error(failure.detail, failure.script);
 * ```
 */
export async function exploreCallbackEndpoint(
  url: string | URL,
  options: ExploreCallbackEndpointOptions,
): Promise<ExplorationReport> {
  const resolved = resolveExploreOptions(url, options);
  return withSender(resolved.check, 'exploration', (sender) =>
    new Exploration(resolved, sender).report(),
  );
}

interface Found extends Violation {
  readonly script: readonly ExplorationStep[];
  readonly schedule?: number;
  /** The schedule before it, which may have left the cause behind. */
  readonly previous?: readonly ExplorationStep[];
}

class Exploration {
  readonly #options: ResolvedExploreOptions;
  readonly #stage: Stage;
  readonly #judge: Judge;
  readonly #tools: RunTools;
  readonly #quietMs: number;
  #ran = 0;
  #isDown = false;

  constructor(options: ResolvedExploreOptions, sender: CallbackSender) {
    this.#options = options;
    this.#stage = new Stage(options.check, sender);
    this.#judge = new Judge(this.#stage);
    const { effectsOf } = this.#judge;
    this.#tools = { stage: this.#stage, sender, restart: options.restart, effectsOf };
    this.#quietMs = Math.min(options.check.effectsWithinMs, LONGEST_QUIET_MS);
  }

  async report(): Promise<ExplorationReport> {
    const startedAt = new Date();
    const startedMs = performance.now();
    const failure = await this.#findFailure();
    const { script, restart, check, schedules, seed } = this.#options;
    const { origin, pathname } = new URL(check.url);
    const leftOut = [
      ...(restart || script ? [] : ['restarts: none without a way to restart the endpoint']),
      ...(this.#judge.knowsStatuses ? [] : ['the status that is kept: countEffects returned none']),
    ];
    return {
      url: origin + pathname,
      passed: failure === undefined,
      ...(script === undefined && { seed }),
      schedules: script === undefined ? schedules : 0,
      ran: this.#ran,
      leftOut,
      ...(failure && { failure }),
      startedAt: startedAt.toISOString(),
      durationMs: Math.round(performance.now() - startedMs),
    };
  }

  async #findFailure(): Promise<ExplorationFailure | undefined> {
    try {
      const { script } = this.#options;
      const inOrder = await this.#learn();
      if (script !== undefined) {
        const violation = await this.#try(script, this.#quietMs);
        return violation && this.#fail({ ...violation, script });
      }
      const found = inOrder ?? (await this.#findFailingSchedule());
      return found && (await this.#shrink(found));
    } catch (error) {
      if (!(error instanceof CheckFailure)) throw error;
      const detail = error.message.replace(/^not (tried|judged): /, '');
      return this.#fail({ invariant: 'premise', detail, script: [] });
    }
  }

  /** Delivers changes in order, and learns their effects and status. */
  async #learn(): Promise<Found | undefined> {
    const untouched = await this.#stage.createPayment();
    const scripts = IN_ORDER.map((changes) =>
      changes.map((change) => ({ do: 'deliver', payment: 1, change }) as const),
    );
    const runs: ScriptRun[] = [];
    for (const script of scripts) {
      const run = await runScript(script, this.#tools);
      const [first] = run.payments.values();
      // How long the first effect takes shows how long to wait for the others.
      if (runs.length === 0 && first)
        await look(this.#stage, (probe) => probe.askUntilEffect(first.payment));
      runs.push(run);
      if (run.violation !== undefined) break;
    }
    await this.#settle(runs);
    const { effects } = await look(this.#stage, (probe) => probe.ask(untouched));
    if (effects !== 0) throw new CheckFailure(describeMixture('payments'));
    const alone = runs[IN_ORDER.findIndex(([first]) => first === 'before')];
    if (alone !== undefined) await this.#judge.learnCounts(alone);
    let failed: Found | undefined;
    for (const [index, run] of runs.entries()) {
      const violation = await this.#judge.judge(run, 0);
      if (violation === undefined) await this.#judge.learnStatus(run);
      else failed ??= { ...violation, script: scripts[index] ?? [] };
    }
    return failed;
  }

  async #findFailingSchedule(): Promise<Found | undefined> {
    const { schedules, seed, restart, check, onProgress } = this.#options;
    const latest = Math.floor(check.toleranceSeconds / 2);
    let previous: readonly ExplorationStep[] = [];
    for (let first = 1; first <= schedules; first += BATCH) {
      const runs: ScriptRun[] = [];
      const scripts: ExplorationStep[][] = [];
      for (let number = first; number < Math.min(first + BATCH, schedules + 1); number += 1) {
        const schedule = createSchedule(seed, number, latest);
        scripts.push(schedule.filter((step) => restart || step.do !== 'restart'));
        runs.push(await runScript(scripts.at(-1) ?? [], this.#tools));
        if (runs.at(-1)?.violation !== undefined) break;
      }
      await this.#settle(runs);
      for (const [index, run] of runs.entries()) {
        const violation = await this.#judge.judge(run, 0);
        this.#ran += 1;
        const schedule = first + index;
        const script = scripts[index] ?? [];
        if (violation) return { ...violation, schedule, script, previous };
        previous = script;
      }
      onProgress?.(this.#ran);
    }
    return undefined;
  }

  /** Waits for deferred work, once for all runs. */
  async #settle(runs: readonly ScriptRun[]): Promise<void> {
    const payments = runs.flatMap((run) => [...run.payments.values()]);
    const last: CheckedPayment | undefined = payments.findLast(({ arrived }) =>
      arrived.has('paid'),
    )?.payment;
    await look(this.#stage, (probe) => probe.settle(last, payments.length));
  }

  async #try(
    script: readonly ExplorationStep[],
    quietMs: number,
  ): Promise<SeenViolation | undefined> {
    this.#stage.takeReferences();
    const violation = await this.#judge.judge(await runScript(script, this.#tools), quietMs);
    if (violation?.invariant === 'accepted') await this.#revive();
    return violation;
  }

  /** After a refusal: an endpoint that accepts nothing more would fail with any script. */
  async #revive(): Promise<void> {
    if (this.#options.restart === undefined) {
      this.#isDown = (await this.#stage.findOutage('the script')) !== undefined;
    } else await restartEndpoint(this.#tools);
  }

  async #shrink(found: Found): Promise<ExplorationFailure> {
    if (found.invariant === 'accepted') await this.#revive();
    let whole = found.script;
    let last = this.#isDown ? undefined : await this.#try(whole, this.#quietMs);
    if (last?.invariant !== found.invariant && found.previous && !this.#isDown) {
      whole = joinScripts(found.previous, whole);
      last = await this.#try(whole, this.#quietMs);
    }
    const fromSteps = whole.length;
    if (this.#isDown || last?.invariant !== found.invariant) {
      const ended = this.#isDown ? 'endpoint-down' : 'not-again';
      return this.#fail(found, { fromSteps: found.script.length, runs: 1, ended });
    }
    let referenceNumbers = this.#stage.takeReferences();
    const quietMs = Math.max(SHORTEST_QUIET_MS, 4 * last.seenMs);
    const fails = async (script: readonly ExplorationStep[]): Promise<boolean> => {
      if (this.#isDown) return false;
      const violation = await this.#try(script, quietMs);
      if (violation?.invariant !== found.invariant) return false;
      last = violation;
      referenceNumbers = this.#stage.takeReferences();
      return true;
    };
    const { script, runs, ended } = await shrink(whole, fails, SHRINK_LIMITS);
    const shrunk = {
      fromSteps,
      runs: runs + 1,
      ended: this.#isDown ? ('endpoint-down' as const) : ended,
    };
    return this.#fail({ ...found, ...last, script }, shrunk, referenceNumbers);
  }

  #fail(
    { invariant, detail, script, schedule }: Found,
    shrunk?: ExplorationFailure['shrunk'],
    referenceNumbers = this.#stage.takeReferences(),
  ): ExplorationFailure {
    return {
      invariant,
      ...invariants[invariant],
      detail,
      script,
      ...(schedule !== undefined && { schedule }),
      ...(shrunk && { shrunk }),
      referenceNumbers,
    };
  }
}

/** Puts one script after the other, each with its own payments. */
function joinScripts(
  first: readonly ExplorationStep[],
  second: readonly ExplorationStep[],
): ExplorationStep[] {
  const numbers = first.map((step) => (step.do === 'restart' ? 0 : step.payment));
  const most = Math.max(0, ...numbers);
  const others = second.map((step) =>
    step.do === 'restart' ? step : { ...step, payment: step.payment + most },
  );
  return [...first, ...others];
}
