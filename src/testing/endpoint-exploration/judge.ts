import { performance } from 'node:perf_hooks';
import { describeCount, pause } from '../endpoint-check/effect-probe.js';
import type { ResolvedCheckOptions } from '../endpoint-check/options.js';
import type { Stage } from '../endpoint-check/stage.js';
import { CheckFailure } from '../endpoint-check/verdict.js';
import type { ExploredChange } from './script.js';
import { look, nameChanges, type ScriptRun, type Violation } from './script-run.js';

const POLL_MS = 20;

/** A violation, and how long after the run it showed, in milliseconds. */
export type SeenViolation = Violation & { readonly seenMs: number };

/** Judges runs with the probe. */
export class Judge {
  readonly #stage: Stage;
  #counts: ResolvedCheckOptions['effectCounts'];
  /** The status that a payment has when its changes arrive in order. */
  readonly #statuses = new Map<string, string | undefined>();

  constructor(stage: Stage) {
    this.#stage = stage;
    this.#counts = stage.options.effectCounts;
  }

  /** Whether the probe returns a status. */
  get knowsStatuses(): boolean {
    return [...this.#statuses.values()].some((status) => status !== undefined);
  }

  /** Returns how many effects these changes have; `undefined` until it is known what the probe counts. */
  readonly effectsOf = (changes: ReadonlySet<ExploredChange>): number | undefined =>
    this.#counts === 'changes' ? changes.size : this.#counts && Number(changes.has('paid'));

  /**
   * Learns what the probe counts, from a run with only an unknown status.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async learnCounts(run: ScriptRun): Promise<void> {
    for (const { payment } of run.payments.values()) {
      const { effects } = await look(this.#stage, (probe) => probe.ask(payment));
      this.#counts ??= effects > 0 ? 'changes' : 'paid';
    }
  }

  /**
   * Learns the status of a payment, from a run whose changes arrived in order.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async learnStatus(run: ScriptRun): Promise<void> {
    for (const { payment, arrived } of run.payments.values()) {
      const { status } = await look(this.#stage, (probe) => probe.ask(payment));
      this.#statuses.set(nameChanges(arrived), status ?? undefined);
    }
  }

  /**
   * Resolves with what a run broke. Waits for missing effects as long as the option says, for surplus effects
   * `quietMs`.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async judge(run: ScriptRun, quietMs: number): Promise<SeenViolation | undefined> {
    if (run.violation !== undefined) return { ...run.violation, seenMs: 0 };
    const { effectsWithinMs, signal } = this.#stage.options;
    const startedMs = performance.now();
    let seen: SeenViolation | undefined;
    for (;;) {
      const found = await this.#look(run);
      const seenMs = performance.now() - startedMs;
      seen = found && {
        ...found,
        seenMs: found.invariant === seen?.invariant ? seen.seenMs : seenMs,
      };
      // A surplus effect stays.
      const lastMs =
        seen === undefined
          ? quietMs
          : seen.invariant === 'once'
            ? 0
            : Math.max(quietMs, effectsWithinMs);
      if (seenMs >= lastMs) return seen;
      await pause(POLL_MS, signal);
    }
  }

  async #look(run: ScriptRun): Promise<Violation | undefined> {
    for (const [number, { payment, arrived }] of run.payments) {
      const count = await look(this.#stage, (probe) => probe.ask(payment));
      const expected = this.effectsOf(arrived);
      if (expected === undefined)
        throw new CheckFailure('it is not known what countEffects counts');
      const names = nameChanges(arrived);
      const seen = `countEffects returned ${describeCount(count)} for payment ${number}, whose callbacks of ${names} were acknowledged`;
      if (count.effects !== expected) {
        const invariant = count.effects > expected ? 'once' : 'in-effect';
        return { invariant, detail: `${seen}, but ${expected} was expected` };
      }
      const status = this.#statuses.get(names);
      if (this.#statuses.has(names) && count.status !== status) {
        const detail = `${seen}, but ${JSON.stringify(status ?? null)} is the status after the same callbacks in order`;
        return { invariant: 'newest-status', detail };
      }
    }
    return undefined;
  }
}
