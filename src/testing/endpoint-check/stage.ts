import { describeValue } from '../../protocol/describe-value.js';
import { EXPIRED, withDeadline } from './deadline.js';
import type { EffectProbe } from './effect-probe.js';
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
  readonly #endpoint: Endpoint;
  readonly #probe: EffectProbe | undefined;
  #made: CheckedPayment[] = [];

  constructor({ options, signer, endpoint, probe }: StageParts) {
    this.options = options;
    this.signer = signer;
    this.#endpoint = endpoint;
    this.#probe = probe;
  }

  /**
   * A payment for one check alone, so that one failure causes no other. With `suffix` its
   * reference ends in that, unless the option says what references are.
   *
   * @throws {CheckFailure} when the option `merchantPaymentReference` gives none
   */
  async createPayment({ suffix = '' }: { suffix?: string } = {}): Promise<CheckedPayment> {
    const { merchantPaymentReference: given } = this.options;
    const payment = createCheckedPayment(
      typeof given === 'function' ? await this.#askForReference(given) : (given ?? ''),
    );
    const named =
      given === undefined
        ? { ...payment, merchantPaymentReference: `check-${payment.referenceNumber}${suffix}` }
        : payment;
    this.#made.push(named);
    return named;
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

  /** What the probe tells decides; without a probe nothing does. */
  async judgeEffects(judge: (probe: EffectProbe) => Promise<CheckVerdict>): Promise<CheckVerdict> {
    if (this.#probe === undefined) {
      return skip('not tried: it needs a probe, countEffects or effectUrl');
    }
    try {
      return await judge(this.#probe);
    } catch (error) {
      if (error instanceof CheckFailure) return fail(error.message);
      throw error;
    }
  }

  async #askForReference(give: () => string | PromiseLike<string>): Promise<string> {
    const { timeoutMs, signal } = this.options;
    const reference: unknown = await withDeadline(give, { timeoutMs, signal }).catch((error) => {
      signal?.throwIfAborted();
      // Not its text, which may quote a connection string or a row.
      const kind = error instanceof Error ? error.name : describeValue(error);
      throw new CheckFailure(`not tried: merchantPaymentReference threw ${kind}`);
    });
    if (typeof reference === 'string' && reference.trim() !== '') return reference;
    const came =
      reference === EXPIRED ? `nothing within ${timeoutMs} ms` : describeValue(reference);
    throw new CheckFailure(
      `not tried: merchantPaymentReference must return a string that is not blank, but ${came} came`,
    );
  }
}

/** `once` as a check of effects says it. */
export function describeCount({ effects, status }: EffectCount): string {
  const times = effects === 1 ? '1 effect' : `${effects} effects`;
  return status === undefined ? times : `${times} and status ${JSON.stringify(status)}`;
}
