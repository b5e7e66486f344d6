import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { describeValue, nameFailure } from '../../protocol/describe-value.js';
import { CheckFailure, type CheckVerdict, fail, fatal, pass, skip } from './answer.js';
import type { CheckedPayment, EffectCount, ResolvedCheckOptions } from './options.js';

/** The interval at which the count is asked for until it shows an effect. */
const POLL_MS = 50;
/** The longest wait for an effect: deferred work may wait in a queue that does one job after the other. */
const LONGEST_WAIT_MS = 10_000;
/** The least wait for surplus effects. A slow queue gets as long as its first effect took. */
const LEAST_WAIT_MS = 1_000;

/**
 * Calls a function of the options, which may throw, reject or never settle.
 *
 * @throws {CheckFailure} when it does any of these
 */
export async function callOption<Result>(
  option: string,
  call: () => Result | PromiseLike<Result>,
  { timeoutMs, clock }: Pick<ResolvedCheckOptions, 'timeoutMs' | 'clock'>,
): Promise<Result> {
  let cancelTimer = (): void => undefined;
  const expired = new Promise<never>((_resolve, reject) => {
    const expire = (): void => reject(new CheckFailure(`${option} ${noAnswer(timeoutMs)}`));
    cancelTimer = clock.startTimer(expire, timeoutMs);
  });
  try {
    return await Promise.race([Promise.resolve().then(call), expired]);
  } catch (error) {
    if (error instanceof CheckFailure) throw error;
    // Without its text, which may quote a connection string or a row.
    throw new CheckFailure(`${option} threw an error${nameFailure(error)}`);
  } finally {
    cancelTimer();
  }
}

const noAnswer = (timeoutMs: number): string => `did not answer within ${timeoutMs} ms`;

/** Checks effects at the end of the run, when deferred work has been done. */
export type EffectCheck = (effects: Effects) => Promise<CheckVerdict>;

/** What the merchant's code did for payments, as the option `countEffects` tells. */
export class Effects {
  readonly #options: ResolvedCheckOptions;
  readonly #sender: CallbackSender;
  readonly #before = new Map<string, number>();
  /** The first payment, without any callback. */
  #untouched: CheckedPayment | undefined;
  /** Why effects can't be checked. */
  #mixture: string | undefined;
  // What failed is not asked again: if it hangs, a wait for every check would take minutes.
  #failure: CheckFailure | undefined;

  constructor(options: ResolvedCheckOptions, sender: CallbackSender) {
    this.#options = options;
    this.#sender = sender;
  }

  /** Counts before the first callback of a payment: later counts are relative to this one. */
  async prepare(payment: CheckedPayment): Promise<void> {
    if (this.#options.countEffects === undefined) return;
    this.#untouched ??= payment;
    try {
      const { effects } = await this.count(payment);
      this.#before.set(payment.referenceNumber, effects);
    } catch (error) {
      // Reported with the effects that it should have counted.
      asCheckFailure(error);
    }
  }

  /** How many effects a payment had before its first callback. */
  before({ referenceNumber }: CheckedPayment): number {
    return this.#before.get(referenceNumber) ?? 0;
  }

  /** Waits for deferred work, once for all checks: until the last payment shows its effect, and then for surplus. */
  async settle(paid: CheckedPayment | undefined, last: CheckedPayment | undefined): Promise<void> {
    if (this.#untouched === undefined || paid === undefined) return;
    const { clock } = this.#options;
    const startedMs = clock.elapsedMs();
    try {
      const hasActed = await this.#showsWithin(paid, LONGEST_WAIT_MS);
      const usualMs = Math.max(clock.elapsedMs() - startedMs, LEAST_WAIT_MS);
      // An order that ships once shows no effect of its later payments.
      const longestMs = this.#isOneOrder ? usualMs : LONGEST_WAIT_MS;
      if (hasActed && last) await this.#showsWithin(last, longestMs);
      await clock.pause(usualMs);
      this.#mixture = await this.#findMixture(this.#untouched, paid, last);
    } catch (error) {
      asCheckFailure(error);
    }
  }

  async #showsWithin(payment: CheckedPayment, withinMs: number): Promise<boolean> {
    const { clock } = this.#options;
    const endMs = clock.elapsedMs() + withinMs;
    while ((await this.count(payment)).effects < 1) {
      if (clock.elapsedMs() >= endMs) return false;
      await clock.pause(POLL_MS);
    }
    return true;
  }

  get #isOneOrder(): boolean {
    return typeof this.#options.merchantPaymentReference === 'string';
  }

  async #findMixture(
    untouched: CheckedPayment,
    paid: CheckedPayment,
    last: CheckedPayment | undefined,
  ): Promise<string | undefined> {
    const { effects } = await this.count(untouched);
    if (effects !== 0 || (this.#isOneOrder && this.before(untouched) > 0)) {
      return 'countEffects does not distinguish payments: count by referenceNumber, or give';
    }
    if (!this.#isOneOrder || !last || (await this.count(paid)).effects < 1) return undefined;
    const isOncePerOrder = (await this.count(last)).effects === 0;
    return isOncePerOrder ? 'only the first payment of the order had an effect: give' : undefined;
  }

  async check(check: EffectCheck): Promise<CheckVerdict> {
    if (this.#options.countEffects === undefined) return NOT_COUNTED;
    if (this.#mixture !== undefined) {
      const remedy = 'each payment its own order with the option merchantPaymentReference';
      return skip(`not judged: ${this.#mixture} ${remedy}`);
    }
    return check(this).catch((error: unknown) => fatal(failedCount(error)));
  }

  /**
   * Counts the effects of a payment since `prepare`.
   *
   * @throws {CheckFailure} when the merchant's code does not say how many
   */
  async count(payment: CheckedPayment): Promise<EffectCount> {
    if (this.#failure !== undefined) throw this.#failure;
    const read = async () => parseCount(await this.#read(payment));
    try {
      const { effects, status } = await callOption('countEffects', read, this.#options);
      return { effects: effects - this.before(payment), status };
    } catch (error) {
      if (error instanceof CheckFailure) this.#failure = error;
      throw error;
    }
  }

  async #read(payment: CheckedPayment): Promise<unknown> {
    const { countEffects, timeoutMs } = this.#options;
    if (typeof countEffects === 'function') return countEffects(payment);
    const url = new URL(countEffects ?? '');
    for (const [name, value] of Object.entries(payment)) url.searchParams.set(name, value);
    const result = await this.#sender.get(url.href);
    if (result.outcome === 'timed-out') throw uncounted(noAnswer(timeoutMs));
    if (result.outcome === 'failed') throw uncounted(`did not answer (${result.errorCode})`);
    const { status, body } = result.response;
    if (status !== 200) throw uncounted(`must answer 200, but answered ${status}`);
    try {
      return JSON.parse(body);
    } catch {
      throw uncounted('must answer with JSON of less than 4096 bytes, but did not');
    }
  }
}

const NOT_COUNTED = skip('not tried: it needs the option countEffects');

const failedCount = (error: unknown): CheckVerdict => ({
  ...fail(asCheckFailure(error).message),
  remedy:
    'Call countEffects for a made-up payment: it must return 0 for a payment that it does not know. A URL must answer GET with status 200.',
});

/** @throws every other error */
export function asCheckFailure(error: unknown): CheckFailure {
  if (error instanceof CheckFailure) return error;
  throw error;
}

const uncounted = (what: string): CheckFailure => new CheckFailure(`countEffects ${what}`);

function parseCount(given: unknown): EffectCount {
  const { effects, ...others } = (
    typeof given === 'object' && given !== null ? given : { effects: given }
  ) as Partial<Record<keyof EffectCount, unknown>>;
  // null is the status of a database column that has none yet.
  const status = others.status ?? undefined;
  if (!Number.isSafeInteger(effects) || (effects as number) < 0) {
    const received = typeof effects === 'number' ? String(effects) : describeValue(effects);
    throw uncounted(`must return a whole number of effects from 0, received ${received}`);
  }
  if (status !== undefined && (typeof status !== 'string' || status === '')) {
    const received = describeValue(status);
    throw uncounted(`must return a status that is a string and not empty, received ${received}`);
  }
  return { effects: effects as number, status };
}

/** `1 effect and status "paid"`. */
export function describeCount({ effects, status }: EffectCount): string {
  const times = effects === 1 ? '1 effect' : `${effects} effects`;
  return status === undefined ? times : `${times} and status ${JSON.stringify(status)}`;
}

const TOO_FEW =
  'Answer 200 only after the change is stored; callbackHandler answers when onPayment has returned. If it was stored, countEffects looks in the wrong place: call it for this payment.';

const HAD_EFFECTS =
  'If this order was paid in an earlier run, nothing is left to do: give each run new orders by the option merchantPaymentReference.';

/** Checks a payment that must have had one effect after `what` was delivered. */
export function checkActedOnce(payment: CheckedPayment, what: string): EffectCheck {
  return async (effects) => {
    const count = await effects.count(payment);
    const before = effects.before(payment);
    const beyond = before === 0 ? '' : `, beyond the ${before} from before its first callback`;
    const seen = `countEffects returned ${describeCount(count)} for ${what}${beyond}`;
    if (count.effects === 1) return pass(seen);
    const verdict = fail(`${seen}, but 1 was expected`);
    if (count.effects > 1) return verdict;
    return { ...verdict, remedy: before === 0 ? TOO_FEW : `${TOO_FEW} ${HAD_EFFECTS}` };
  };
}
