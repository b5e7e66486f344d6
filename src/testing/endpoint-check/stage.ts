import { describeValue } from '../../protocol/describe-value.js';
import { EXPIRED, withDeadline } from './deadline.js';
import type { EffectJudgement, EffectProbe } from './effect-probe.js';
import type { Answer, Endpoint } from './endpoint.js';
import type { EffectCount, ResolvedCheckOptions } from './options.js';
import { type CheckedPayment, createCheckedPayment } from './payment.js';
import type { SignedRequest, Signer } from './signer.js';
import { CheckFailure, type CheckVerdict, fail, isAccepted, skip } from './verdict.js';

interface StageParts {
  readonly options: ResolvedCheckOptions;
  readonly signer: Signer;
  readonly endpoint: Endpoint;
  readonly probe: EffectProbe | undefined;
}

interface RefusedCallback {
  readonly payment: CheckedPayment;
  readonly answer: Answer;
}

/** What the checks of one run play on. */
export class Stage {
  readonly options: ResolvedCheckOptions;
  readonly signer: Signer;
  /** Callbacks that were to be refused and were not accepted. */
  readonly refused: RefusedCallback[] = [];
  /** Of the callbacks that were accepted as they should. */
  readonly latenciesMs: number[] = [];
  /** The one that was reported as `paid` first, once that was accepted. */
  paidPayment: CheckedPayment | undefined;
  /** The one that was reported with a status that is not known, once that was accepted. */
  unknownPayment: CheckedPayment | undefined;
  /** The one that was reported as `paid` after that, in order, once both were accepted. */
  changedPayment: CheckedPayment | undefined;
  /** The one whose callback was accepted after all others. */
  lastPayment: CheckedPayment | undefined;
  readonly #endpoint: Endpoint;
  readonly #probe: EffectProbe | undefined;
  #made: CheckedPayment[] = [];
  /** No callback of it is sent. */
  #untouched: CheckedPayment | undefined;
  #tellsApart = true;

  constructor({ options, signer, endpoint, probe }: StageParts) {
    this.options = options;
    this.signer = signer;
    this.#endpoint = endpoint;
    this.#probe = probe;
  }

  /**
   * A payment for one check alone, so that one failure causes no other. With `suffix` its
   * reference ends in that, unless the option says what references are; with `orderOf` it is
   * that of another payment; `unstored` is one that no order has, whatever the option says.
   *
   * @throws {CheckFailure} when the option `merchantPaymentReference` gives none
   */
  async createPayment(
    wanted: { suffix?: string; orderOf?: CheckedPayment; unstored?: boolean } = {},
  ): Promise<CheckedPayment> {
    const payment = await this.#namePayment(wanted);
    this.#made.push(payment);
    await this.#probe?.prepare(payment);
    return payment;
  }

  /** The payments made since it was called last. */
  takePayments(): readonly CheckedPayment[] {
    const made = this.#made;
    this.#made = [];
    return made;
  }

  /** Sends what is to be accepted. */
  async deliver(request: SignedRequest): Promise<Answer> {
    const answer = await this.send(request);
    if (isAccepted(answer)) this.latenciesMs.push(answer.latencyMs);
    return answer;
  }

  async send(request: SignedRequest): Promise<Answer> {
    this.options.signal?.throwIfAborted();
    return this.#endpoint.post(request);
  }

  /** Sends copies at the same moment. */
  async sendAtOnce(request: SignedRequest, copies: number): Promise<Answer[]> {
    this.options.signal?.throwIfAborted();
    return this.#endpoint.postAtOnce(request, copies);
  }

  /** Sends what is to be refused. */
  async forge(payment: CheckedPayment, request: SignedRequest): Promise<Answer> {
    const answer = await this.send(request);
    if (!isAccepted(answer)) this.refused.push({ payment, answer });
    return answer;
  }

  /** What the probe tells while the run goes on: a failure of it, or nothing without a probe. */
  async observe(
    look: (probe: EffectProbe) => Promise<EffectCount>,
  ): Promise<EffectCount | CheckFailure | undefined> {
    if (this.#probe === undefined) return undefined;
    try {
      return await look(this.#probe);
    } catch (error) {
      if (error instanceof CheckFailure) return error;
      throw error;
    }
  }

  /** Makes a payment that must stay without effects, whatever is done about the others. */
  async begin(): Promise<void> {
    if (this.#probe === undefined) return;
    try {
      this.#untouched = await this.#namePayment({});
    } catch (error) {
      if (error instanceof CheckFailure) return;
      throw error;
    }
    await this.#probe.prepare(this.#untouched);
  }

  /**
   * Stores the order of a payment by the option `overtaking`.
   *
   * @throws {CheckFailure} when it fails
   */
  async storeOrder(payment: CheckedPayment): Promise<void> {
    const { overtaking: store, timeoutMs } = this.options;
    if (typeof store !== 'function') return;
    if ((await this.#call('overtaking', () => store(payment))) !== EXPIRED) return;
    throw new CheckFailure(`not tried: overtaking did not settle within ${timeoutMs} ms`);
  }

  /**
   * Whether the probe counts every change, or those to `paid` alone.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async countsEveryChange(probe: EffectProbe): Promise<boolean> {
    if (this.unknownPayment === undefined) return false;
    return (await probe.ask(this.unknownPayment)).effects > 0;
  }

  /** Waits, once for all, until what was deferred has been done. */
  async settle(): Promise<void> {
    await this.observe(async (probe) => {
      await probe.settle(this.lastPayment, this.latenciesMs.length);
      const untouched = this.#untouched;
      if (untouched === undefined) return { effects: 0 };
      const count = await probe.ask(untouched);
      const isOneOrder = typeof this.options.merchantPaymentReference === 'string';
      const hadEffects = isOneOrder && probe.effectsBefore(untouched) > 0;
      this.#tellsApart = count.effects === 0 && !hadEffects;
      return count;
    });
  }

  /** What the probe tells decides; without a probe nothing does. */
  async judgeEffects(judge: EffectJudgement): Promise<CheckVerdict> {
    const probe = this.#probe;
    if (probe === undefined) return skip('not tried: it needs a probe, countEffects or effectUrl');
    if (!this.#tellsApart) return skip(describeMixture(probe, 'payments'));
    try {
      return await judge(probe);
    } catch (error) {
      if (error instanceof CheckFailure) return fail(error.message);
      throw error;
    }
  }

  async #namePayment({
    suffix = '',
    orderOf,
    unstored = false,
  }: {
    suffix?: string;
    orderOf?: CheckedPayment;
    unstored?: boolean;
  }): Promise<CheckedPayment> {
    if (orderOf !== undefined) return createCheckedPayment(orderOf.merchantPaymentReference);
    const given = unstored ? undefined : this.options.merchantPaymentReference;
    const payment = createCheckedPayment(
      typeof given === 'function' ? await this.#askForReference(given) : (given ?? ''),
    );
    return given === undefined
      ? { ...payment, merchantPaymentReference: `check-${payment.referenceNumber}${suffix}` }
      : payment;
  }

  async #askForReference(give: () => string | PromiseLike<string>): Promise<string> {
    const reference: unknown = await this.#call('merchantPaymentReference', give);
    if (typeof reference === 'string' && reference.trim() !== '') return reference;
    const came =
      reference === EXPIRED
        ? `nothing within ${this.options.timeoutMs} ms`
        : describeValue(reference);
    throw new CheckFailure(
      `not tried: merchantPaymentReference must return a string that is not blank, but ${came} came`,
    );
  }

  /** Calls a function of the options. */
  #call<Result>(
    option: string,
    run: () => Result | PromiseLike<Result>,
  ): Promise<Result | typeof EXPIRED> {
    const { timeoutMs, signal } = this.options;
    return withDeadline(run, { timeoutMs, signal }).catch((error) => {
      signal?.throwIfAborted();
      // Not its text, which may quote a connection string or a row.
      const kind = error instanceof Error ? error.name : describeValue(error);
      throw new CheckFailure(`not tried: ${option} threw ${kind}`);
    });
  }
}

/** `once` as a check of effects says it. */
export function describeCount({ effects, status }: EffectCount): string {
  const times = effects === 1 ? '1 effect' : `${effects} effects`;
  return status === undefined ? times : `${times} and status ${JSON.stringify(status)}`;
}

/** Says that a payment has effects of which no callback was sent. */
export function describeMixture({ name }: EffectProbe, what: string): string {
  return `not judged: ${name} does not tell ${what} apart: count by referenceNumber`;
}
