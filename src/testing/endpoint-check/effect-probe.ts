import { performance } from 'node:perf_hooks';
import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { describeValue } from '../../protocol/describe-value.js';
import { EXPIRED, pause, withDeadline } from './deadline.js';
import type { EffectCount, ResolvedCheckOptions } from './options.js';
import type { CheckedPayment } from './payment.js';
import { CheckFailure, type CheckVerdict } from './verdict.js';

/** How often a probe is asked until it tells what is expected. */
const POLL_MS = 50;

/** The shortest time in which what was deferred can happen. */
const QUIET_MS = 50;

/** How long the last look is waited for, when effects show at once. */
const LAST_WAIT_MS = 1_000;

/** How long the last look is waited for at most, and how long for a queue to empty. */
const LONGEST_WAIT_MS = 10_000;

/** Work that a queue does one by one, for as many deliveries of one callback as there are. */
const JOBS = 5;

/** Asks the merchant's side what became of a payment. */
export class EffectProbe {
  /** How the user calls it. */
  readonly name: 'countEffects' | 'effectUrl';
  readonly #options: ResolvedCheckOptions;
  readonly #read: (payment: CheckedPayment) => unknown;
  readonly #before = new Map<string, number>();
  #firstEffectMs: number | undefined;
  // Waited for once: with every check of it the run would take minutes.
  #hangs = false;

  constructor(
    options: ResolvedCheckOptions,
    name: 'countEffects' | 'effectUrl',
    read: (payment: CheckedPayment) => unknown,
  ) {
    this.#options = options;
    this.name = name;
    this.#read = read;
  }

  /** Looks at a payment before anything of it is sent: what counts is the difference. */
  async prepare(payment: CheckedPayment): Promise<void> {
    try {
      const { effects } = await this.ask(payment);
      this.#before.set(payment.referenceNumber, effects);
    } catch (error) {
      // A probe that fails is told of with the effects that it was to tell.
      if (!(error instanceof CheckFailure)) throw error;
    }
  }

  /** How many effects a payment had before anything of it was sent. */
  effectsBefore({ referenceNumber }: CheckedPayment): number {
    return this.#before.get(referenceNumber) ?? 0;
  }

  /**
   * What the probe tells now, after a short while in which what was deferred can happen.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async askAfterPause(payment: CheckedPayment): Promise<EffectCount> {
    const { effectsWithinMs, signal } = this.#options;
    const deferredMs = Math.min(2 * (this.#firstEffectMs ?? 0), effectsWithinMs);
    await pause(Math.max(QUIET_MS, deferredMs), signal);
    return this.ask(payment);
  }

  /**
   * What the probe tells once there is an effect, or when `effectsWithinMs` has passed.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async askUntilEffect(
    payment: CheckedPayment,
    withinMs = this.#options.effectsWithinMs,
  ): Promise<EffectCount> {
    const startedMs = performance.now();
    let count = await this.ask(payment);
    while (count.effects < 1 && performance.now() - startedMs < withinMs) {
      await pause(POLL_MS, this.#options.signal);
      count = await this.ask(payment);
    }
    if (count.effects >= 1) this.#firstEffectMs ??= performance.now() - startedMs;
    return count;
  }

  /**
   * Waits until what was deferred has been done: until the last payment shows its effect, since a
   * queue does it last, and then for what takes longer than the first did.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async settle(last: CheckedPayment | undefined, deliveries: number): Promise<void> {
    const { effectsWithinMs, signal } = this.#options;
    const firstEffectMs = this.#firstEffectMs ?? 0;
    const backlogMs = Math.min(firstEffectMs * deliveries, LONGEST_WAIT_MS);
    if (last !== undefined) await this.askUntilEffect(last, Math.max(effectsWithinMs, backlogMs));
    const jobsMs = Math.min(firstEffectMs * JOBS, LONGEST_WAIT_MS);
    await pause(Math.max(Math.min(effectsWithinMs, LAST_WAIT_MS), jobsMs), signal);
  }

  /**
   * What has come of a payment since it was made.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async ask(payment: CheckedPayment): Promise<EffectCount> {
    const { timeoutMs, signal } = this.#options;
    const late = `${this.name} gave no answer within ${timeoutMs} ms, so the effects are not known`;
    if (this.#hangs) throw new CheckFailure(late);
    const told = await withDeadline(() => this.#read(payment), { timeoutMs, signal }).catch(
      (error: unknown) => {
        signal?.throwIfAborted();
        throw this.#explain(error);
      },
    );
    if (told === EXPIRED) {
      this.#hangs = true;
      throw new CheckFailure(late);
    }
    const { effects, status } = this.#parse(told);
    return { effects: effects - this.effectsBefore(payment), status };
  }

  #explain(error: unknown): CheckFailure {
    if (error instanceof CheckFailure) return error;
    // Not its text, which may quote a connection string or a row.
    const { name, code } = (error ?? {}) as { name?: unknown; code?: unknown };
    const kind = typeof name === 'string' ? name : describeValue(error);
    const suffix = typeof code === 'string' ? ` (${code})` : '';
    return new CheckFailure(
      `${this.name} threw ${kind}${suffix}, so the effects are not known; call it by itself to see why`,
    );
  }

  #parse(told: unknown): EffectCount {
    const { effects, status } = (
      typeof told === 'object' && told !== null ? told : { effects: told }
    ) as Partial<Record<keyof EffectCount, unknown>>;
    if (!Number.isSafeInteger(effects) || (effects as number) < 0) {
      throw this.#misfit('a whole number of effects from 0', effects);
    }
    if (status !== undefined && (typeof status !== 'string' || status === '')) {
      throw this.#misfit('a status that is a string and not empty', status);
    }
    return { effects: effects as number, status };
  }

  #misfit(expected: string, came: unknown): CheckFailure {
    const value = typeof came === 'number' ? String(came) : describeValue(came);
    return new CheckFailure(
      `${this.name} must tell ${expected}, but ${value} came, so the effects are not known`,
    );
  }
}

/** Judges effects at the end of the run: one too many, of work that is deferred, may come late. */
export type EffectJudgement = (probe: EffectProbe) => Promise<CheckVerdict>;

/** The probe of the options, if they have one. */
export function createProbe(
  options: ResolvedCheckOptions,
  sender: CallbackSender,
): EffectProbe | undefined {
  const { countEffects, effectUrl } = options;
  if (countEffects !== undefined) return new EffectProbe(options, 'countEffects', countEffects);
  if (effectUrl === undefined) return undefined;
  return new EffectProbe(options, 'effectUrl', (payment) =>
    fetchEffects(sender, effectUrl, payment),
  );
}

async function fetchEffects(
  sender: CallbackSender,
  effectUrl: string,
  { referenceNumber, merchantPaymentReference }: CheckedPayment,
): Promise<unknown> {
  const url = new URL(effectUrl);
  url.searchParams.set('referenceNumber', referenceNumber);
  url.searchParams.set('merchantPaymentReference', merchantPaymentReference);
  const result = await sender.get(url.href);
  if (result.outcome === 'timed-out') return EXPIRED;
  if (result.outcome === 'failed') {
    throw new CheckFailure(
      `effectUrl gave no answer (${result.errorCode}), so the effects are not known`,
    );
  }
  const { status, body } = result.response;
  if (status !== 200) {
    throw new CheckFailure(
      `effectUrl must answer 200, but answered ${status}, so the effects are not known`,
    );
  }
  try {
    return JSON.parse(body);
  } catch {
    throw new CheckFailure(
      'effectUrl must answer with JSON of less than 4096 bytes, but it did not, so the effects are not known',
    );
  }
}
