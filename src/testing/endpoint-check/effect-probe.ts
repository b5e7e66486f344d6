import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { describeValue, nameFailure } from '../../protocol/describe-value.js';
import type { CheckedPayment, EffectCount, ResolvedCheckOptions } from './options.js';
import { CheckFailure, type CheckVerdict, fail, pass } from './verdict.js';

/** The interval at which a probe is asked until it shows an effect. */
const POLL_MS = 50;
/** The shortest wait for deferred work. */
const QUIET_MS = 50;
/** The wait before the last look if effects show immediately. */
const LAST_WAIT_MS = 1_000;
/** The longest wait before the last look, and for a queue to empty. */
const LONGEST_WAIT_MS = 10_000;
/** How many jobs a queue may do one by one for the deliveries of one callback. */
const JOBS = 5;

/**
 * Calls a function of the options, which may throw, reject or never settle.
 *
 * @throws {CheckFailure} when it does any of these; what the signal aborted with
 */
export async function callOption<Result>(
  option: string,
  call: () => Result | PromiseLike<Result>,
  { timeoutMs, signal, clock }: Pick<ResolvedCheckOptions, 'timeoutMs' | 'signal' | 'clock'>,
): Promise<Result> {
  signal?.throwIfAborted();
  let end = (): void => undefined;
  const ended = new Promise<never>((_resolve, reject) => {
    const abort = (): void => reject(signal?.reason);
    const expire = (): void => reject(new CheckFailure(`${option} ${noAnswer(timeoutMs)}`));
    const cancelTimer = clock.startTimer(expire, timeoutMs);
    signal?.addEventListener('abort', abort);
    end = () => {
      cancelTimer();
      signal?.removeEventListener('abort', abort);
    };
  });
  try {
    return await Promise.race([Promise.resolve().then(call), ended]);
  } catch (error) {
    signal?.throwIfAborted();
    if (error instanceof CheckFailure) throw error;
    // Without its text, which may quote a connection string or a row.
    throw new CheckFailure(`${option} threw an error${nameFailure(error)}`);
  } finally {
    end();
  }
}

const noAnswer = (timeoutMs: number): string => `did not answer within ${timeoutMs} ms`;

/** Judges effects at the end of the run, when deferred work has been done. */
export type EffectJudgement = (probe: EffectProbe) => Promise<CheckVerdict>;

/** Asks the merchant's code what it did for a payment. Each method throws a {@link CheckFailure} when that fails. */
export class EffectProbe {
  readonly #options: ResolvedCheckOptions;
  readonly #sender: CallbackSender;
  readonly #before = new Map<string, number>();
  #firstEffectMs: number | undefined;
  // A probe that failed is not asked again: if it hangs, a wait for every check would take minutes.
  #failure: CheckFailure | undefined;

  constructor(options: ResolvedCheckOptions, sender: CallbackSender) {
    this.#options = options;
    this.#sender = sender;
  }

  /** Counts the effects of a payment before its first callback: later counts are relative to this one. */
  async prepare(payment: CheckedPayment): Promise<EffectCount> {
    const count = await this.ask(payment);
    this.#before.set(payment.referenceNumber, count.effects);
    return count;
  }

  /** Returns how many effects a payment had before its first callback. */
  effectsBefore({ referenceNumber }: CheckedPayment): number {
    return this.#before.get(referenceNumber) ?? 0;
  }

  /** Counts the effects after a short wait for deferred work. */
  async askAfterPause(payment: CheckedPayment): Promise<EffectCount> {
    const { effectsWithinMs, signal, clock } = this.#options;
    const deferredMs = Math.min(2 * (this.#firstEffectMs ?? 0), effectsWithinMs);
    await clock.pause(Math.max(QUIET_MS, deferredMs), signal);
    return this.ask(payment);
  }

  /** Counts the effects as soon as there is one, or when the time is over. */
  async askUntilEffect(
    payment: CheckedPayment,
    withinMs = this.#options.effectsWithinMs,
  ): Promise<EffectCount> {
    const { signal, clock } = this.#options;
    const startedMs = clock.elapsedMs();
    let count = await this.ask(payment);
    while (count.effects < 1 && clock.elapsedMs() - startedMs < withinMs) {
      await clock.pause(POLL_MS, signal);
      count = await this.ask(payment);
    }
    if (count.effects >= 1) this.#firstEffectMs ??= clock.elapsedMs() - startedMs;
    return count;
  }

  /**
   * Waits for deferred work: until the last payment shows its effect, which a queue does last, and then for work
   * that takes longer than the first effect did.
   */
  async settle(last: CheckedPayment | undefined, deliveries: number): Promise<void> {
    const { effectsWithinMs, signal, clock } = this.#options;
    const firstEffectMs = this.#firstEffectMs ?? 0;
    const backlogMs = Math.min(firstEffectMs * deliveries, LONGEST_WAIT_MS);
    if (last !== undefined) await this.askUntilEffect(last, Math.max(effectsWithinMs, backlogMs));
    const jobsMs = Math.min(firstEffectMs * JOBS, LONGEST_WAIT_MS);
    await clock.pause(Math.max(Math.min(effectsWithinMs, LAST_WAIT_MS), jobsMs), signal);
  }

  /** Counts the effects of a payment since `prepare`. */
  async ask(payment: CheckedPayment): Promise<EffectCount> {
    if (this.#failure !== undefined) throw this.#failure;
    const read = async () => parseCount(await this.#read(payment));
    try {
      const { effects, status } = await callOption('countEffects', read, this.#options);
      return { effects: effects - this.effectsBefore(payment), status };
    } catch (error) {
      if (error instanceof CheckFailure) this.#failure = error;
      throw error;
    }
  }

  async #read(payment: CheckedPayment): Promise<unknown> {
    const { countEffects, timeoutMs } = this.#options;
    if (typeof countEffects === 'function') return countEffects(payment);
    const url = new URL(countEffects ?? '');
    url.searchParams.set('referenceNumber', payment.referenceNumber);
    url.searchParams.set('merchantPaymentReference', payment.merchantPaymentReference);
    const result = await this.#sender.get(url.href);
    if (result.outcome === 'timed-out') throw unknown(noAnswer(timeoutMs));
    if (result.outcome === 'failed') throw unknown(`did not answer (${result.errorCode})`);
    const { status, body } = result.response;
    if (status !== 200) throw unknown(`must answer 200, but answered ${status}`);
    try {
      return JSON.parse(body);
    } catch {
      throw unknown('must answer with JSON of less than 4096 bytes, but did not');
    }
  }
}

const unknown = (what: string): CheckFailure => new CheckFailure(`countEffects ${what}`);

function parseCount(given: unknown): EffectCount {
  const { effects, ...others } = (
    typeof given === 'object' && given !== null ? given : { effects: given }
  ) as Partial<Record<keyof EffectCount, unknown>>;
  // null is the status of a database column that has none yet.
  const status = others.status ?? undefined;
  if (!Number.isSafeInteger(effects) || (effects as number) < 0) {
    const received = typeof effects === 'number' ? String(effects) : describeValue(effects);
    throw unknown(`must return a whole number of effects from 0, received ${received}`);
  }
  if (status !== undefined && (typeof status !== 'string' || status === '')) {
    const received = describeValue(status);
    throw unknown(`must return a status that is a string and not empty, received ${received}`);
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
  'If this order was paid in an earlier run, nothing is left to do: give each run new orders as merchantPaymentReference.';

/** Judges a payment that must have had `expected` effects after `what` was delivered. */
export function judgeEffectCount(
  payment: CheckedPayment,
  expected: number,
  what: string,
  /** The default is for a callback that nothing kept from having an effect. */
  remedyOfTooFew: string | undefined = TOO_FEW,
): EffectJudgement {
  return async (probe) => {
    const count = await probe.ask(payment);
    const before = probe.effectsBefore(payment);
    const beyond = before === 0 ? '' : `, beyond the ${before} from before its first callback`;
    const seen = `countEffects returned ${describeCount(count)} for ${what}${beyond}`;
    if (count.effects === expected) return pass(seen);
    const verdict = fail(`${seen}, but ${expected} was expected`);
    if (count.effects > expected) return verdict;
    const remedy = before === 0 ? remedyOfTooFew : `${remedyOfTooFew} ${HAD_EFFECTS}`;
    return { ...verdict, remedy };
  };
}
