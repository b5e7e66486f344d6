import { performance } from 'node:perf_hooks';
import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { describeValue } from '../../protocol/describe-value.js';
import { EXPIRED, pause, withDeadline } from './deadline.js';
import type { EffectCount, ResolvedCheckOptions } from './options.js';
import type { CheckedPayment } from './payment.js';
import { CheckFailure } from './verdict.js';

/** How often a probe is asked until it tells what is expected. */
const POLL_MS = 50;

/** An effect too many, of work that is deferred, may come a little later than the one expected. */
const QUIET_MS = 50;

/** Asks the merchant's side what became of a payment. */
export class EffectProbe {
  /** How the user calls it. */
  readonly name: 'countEffects' | 'effectUrl';
  readonly #options: ResolvedCheckOptions;
  readonly #read: (payment: CheckedPayment) => unknown;
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

  /**
   * What the probe tells now, after a short while in which what was deferred can happen.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async askAfterPause(payment: CheckedPayment): Promise<EffectCount> {
    await pause(QUIET_MS, this.#options.signal);
    return this.ask(payment);
  }

  /**
   * What the probe tells once it tells what is expected, or `effectsWithinMs` has passed.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async askUntil(
    payment: CheckedPayment,
    isExpected: (count: EffectCount) => boolean,
  ): Promise<EffectCount> {
    const endMs = performance.now() + this.#options.effectsWithinMs;
    while (!isExpected(await this.ask(payment)) && performance.now() < endMs) {
      await pause(POLL_MS, this.#options.signal);
    }
    return this.askAfterPause(payment);
  }

  /** @throws {CheckFailure} when the probe fails */
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
    return this.#parse(told);
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
