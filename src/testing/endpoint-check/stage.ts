import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { describeValue } from '../../protocol/describe-value.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import { type Answer, describeAnswer, isAccepted, remedyOfOutage } from './answer.js';
import {
  type Change,
  createCheckedPayment,
  createRecord,
  type SignedRequest,
  Signer,
} from './callbacks.js';
import { checkTexts } from './check-texts.js';
import {
  describeCount,
  describeThrown,
  type EffectJudgement,
  EffectProbe,
  EXPIRED,
  withDeadline,
} from './effect-probe.js';
import { Endpoint } from './endpoint.js';
import type { CheckedPayment, ResolvedCheckOptions } from './options.js';
import type { EndpointCheckId } from './report.js';
import { CheckFailure, type CheckVerdict, fail, fatal, pass, skip } from './verdict.js';

/** What a scenario found, by check. Effects may be judged at the end of the run. */
export type Findings = Partial<Record<EndpointCheckId, CheckVerdict | EffectJudgement>>;

/** Requests that belong together, and the checks they decide. */
export interface Scenario {
  /** The checks that `run` decides. */
  readonly ids: readonly [EndpointCheckId, ...EndpointCheckId[]];
  readonly run: (stage: Stage) => Promise<Findings>;
}

/** What is special about a made-up payment. */
interface WantedPayment {
  /** A suffix for its reference, unless an option gives the references. */
  readonly suffix?: string;
  /** The payment whose order it shares. */
  readonly orderOf?: CheckedPayment;
  /** Whether its order must not be stored anywhere, whatever the option says. */
  readonly unstored?: boolean;
}

/** The pauses before further deliveries: about a second in all, whatever Retry-After says. */
const REDELIVERY_PAUSES_MS = [25, 50, 100, 200, 300, 300];

/** What the scenarios of one run share. */
export class Stage {
  readonly options: ResolvedCheckOptions;
  readonly signer: Signer;
  /** Forged callbacks that were not accepted. */
  readonly refused: { readonly payment: CheckedPayment; readonly answer: Answer }[] = [];
  /** Of the valid callbacks that were accepted. */
  readonly latenciesMs: number[] = [];
  /** Payments whose callbacks were accepted, for later checks to compare with. */
  readonly accepted: {
    /** The first that was `paid`. */
    paid?: CheckedPayment;
    /** With an unknown status only. */
    unknownStatus?: CheckedPayment;
    /** With an unknown status, and `paid` after it. */
    paidInOrder?: CheckedPayment;
    /** The last of all. */
    last?: CheckedPayment;
  } = {};
  /** The verdict, if the endpoint stopped accepting callbacks. */
  outage: CheckVerdict | undefined;
  readonly #endpoint: Endpoint;
  readonly #probe: EffectProbe | undefined;
  #made: CheckedPayment[] = [];
  /** A payment without any callback. */
  #untouched: CheckedPayment | undefined;
  /** Why effects can't be judged. */
  #mixture: string | undefined;

  constructor(options: ResolvedCheckOptions, sender: CallbackSender) {
    this.options = options;
    this.signer = new Signer(options);
    this.#endpoint = new Endpoint(sender, options);
    if (options.countEffects !== undefined) this.#probe = new EffectProbe(options, sender);
  }

  /**
   * Makes up a payment for one check only, so that one failure causes no other.
   *
   * @throws {CheckFailure} when the option `merchantPaymentReference` returns no reference
   */
  async createPayment(wanted: WantedPayment = {}): Promise<CheckedPayment> {
    const payment = await this.#namePayment(wanted);
    this.#made.push(payment);
    // A failure of the probe is reported with the effects that it should have counted.
    await this.observe((probe) => probe.prepare(payment));
    return payment;
  }

  /** Returns the reference numbers of the payments made up since the last call. */
  takeReferences(): readonly string[] {
    return this.#made.splice(0).map(({ referenceNumber }) => referenceNumber);
  }

  /** As the function, by the clock of the run. */
  createRecord(payment: CheckedPayment, change?: Change): PaymentStatusRecord {
    return createRecord(payment, change, this.options.clock.now());
  }

  /** Signs a callback as the service does. */
  sign(payment: CheckedPayment, change?: Change): SignedRequest {
    return this.signer.sign(this.createRecord(payment, change));
  }

  async send(request: SignedRequest): Promise<Answer> {
    this.options.signal?.throwIfAborted();
    return this.#endpoint.post(request);
  }

  /** Sends requests at the same moment. */
  async sendAtOnce(requests: readonly SignedRequest[]): Promise<Answer[]> {
    this.options.signal?.throwIfAborted();
    return this.#endpoint.postAtOnce(requests);
  }

  /** Sends a callback that should be accepted. */
  async deliver(request: SignedRequest): Promise<Answer> {
    const answer = await this.send(request);
    if (isAccepted(answer)) this.latenciesMs.push(answer.latencyMs);
    return answer;
  }

  /** Delivers as the service does, until 2xx, and returns the last answer. */
  async deliverUntilAccepted(request: SignedRequest): Promise<Answer> {
    let answer = await this.deliver(request);
    for (const milliseconds of REDELIVERY_PAUSES_MS) {
      const isTimedOut = answer.status === undefined && answer.failureCode === undefined;
      if (isAccepted(answer) || isTimedOut) break;
      await this.options.clock.pause(milliseconds, this.options.signal);
      answer = await this.deliver(request);
    }
    return answer;
  }

  /** Sends a callback that should be refused. */
  async forge(payment: CheckedPayment, request: SignedRequest): Promise<Answer> {
    const answer = await this.send(request);
    if (!isAccepted(answer)) this.refused.push({ payment, answer });
    return answer;
  }

  /** Asks the probe during the run. Resolves with its failure, or with nothing if there is no probe. */
  async observe<Seen>(
    look: (probe: EffectProbe) => Promise<Seen>,
  ): Promise<Seen | CheckFailure | undefined> {
    return this.#probe && look(this.#probe).catch(asCheckFailure);
  }

  /**
   * Sends a valid callback, to see whether the endpoint still accepts callbacks. `after` is what was seen
   * before.
   */
  async findOutage(after: string): Promise<CheckVerdict | undefined> {
    const payment = await this.#namePayment({}).catch(asCheckFailure);
    if (payment instanceof CheckFailure) return undefined;
    const answer = await this.deliverUntilAccepted(this.sign(payment));
    if (isAccepted(answer)) return undefined;
    const seen = `after ${after} a valid callback was no longer accepted: the endpoint ${describeAnswer(answer)}`;
    this.outage = { ...fail(seen, answer), remedy: remedyOfOutage(answer) };
    return this.outage;
  }

  /** Asks the probe before any callback is sent, for a payment that must stay without effects. */
  async tryProbe(): Promise<CheckVerdict> {
    if (this.#probe === undefined) return NO_PROBE;
    const payment = await this.#namePayment({}).catch(asCheckFailure);
    if (payment instanceof CheckFailure) return skip(payment.message);
    this.#untouched = payment;
    const count = await this.#probe.prepare(payment).catch(asCheckFailure);
    if (count instanceof CheckFailure) return failOfProbe(count);
    return pass(`countEffects returned ${describeCount(count)} for a payment without any callback`);
  }

  /** Waits for deferred work, once for all checks. */
  async settle(): Promise<void> {
    await this.observe(async (probe) => {
      const { paid, last } = this.accepted;
      await probe.settle(last, this.latenciesMs.length);
      const untouched = this.#untouched;
      if (untouched === undefined) return;
      const { effects } = await probe.ask(untouched);
      const isOneOrder = typeof this.options.merchantPaymentReference === 'string';
      const hadEffects = isOneOrder && probe.effectsBefore(untouched) > 0;
      if (effects !== 0 || hadEffects) {
        this.#mixture = `${describeMixture('payments')}, or give`;
      } else if (isOneOrder && paid && last && (await probe.ask(paid)).effects > 0) {
        const isOncePerOrder = (await probe.ask(last)).effects === 0;
        if (isOncePerOrder)
          this.#mixture = 'not judged: only the first payment of the order had an effect: give';
      }
    });
  }

  /** Judges with the probe; skips without one. */
  async judgeEffects(judge: EffectJudgement): Promise<CheckVerdict> {
    if (this.#probe === undefined) return NO_PROBE;
    if (this.#mixture !== undefined) {
      const reason = `${this.#mixture} each payment its own order with merchantPaymentReference`;
      return skip(reason, 'merchantPaymentReference');
    }
    const verdict = await judge(this.#probe).catch(asCheckFailure);
    // A probe that fails for one payment fails for the others.
    return verdict instanceof CheckFailure ? fatal(failOfProbe(verdict)) : verdict;
  }

  /**
   * Whether the probe counts every change, or only those to `paid`.
   *
   * @throws {CheckFailure} when the probe fails
   */
  async countsEveryChange(probe: EffectProbe): Promise<boolean> {
    const { effectCounts } = this.options;
    if (effectCounts !== undefined) return effectCounts === 'changes';
    const { unknownStatus } = this.accepted;
    return unknownStatus !== undefined && (await probe.ask(unknownStatus)).effects > 0;
  }

  /**
   * Stores the order of a payment with the option `overtaking`.
   *
   * @throws {CheckFailure} when it fails
   */
  async storeOrder(payment: CheckedPayment): Promise<void> {
    const { overtaking: store, timeoutMs } = this.options;
    if (typeof store !== 'function') return;
    if ((await this.#call('overtaking', () => store(payment))) !== EXPIRED) return;
    throw new CheckFailure(`not tried: overtaking did not settle within ${timeoutMs} ms`);
  }

  async #namePayment({ suffix = '', orderOf, unstored }: WantedPayment): Promise<CheckedPayment> {
    if (orderOf !== undefined) return createCheckedPayment(orderOf.merchantPaymentReference);
    const given = unstored ? undefined : this.options.merchantPaymentReference;
    const reference = typeof given === 'function' ? await this.#reference(given) : given;
    return createCheckedPayment(reference, suffix);
  }

  async #reference(give: () => string | PromiseLike<string>): Promise<string> {
    const reference: unknown = await this.#call('merchantPaymentReference', give);
    if (typeof reference === 'string' && reference.trim() !== '') return reference;
    const { timeoutMs } = this.options;
    throw new CheckFailure(
      reference === EXPIRED
        ? `not tried: merchantPaymentReference returned nothing within ${timeoutMs} ms`
        : `not tried: merchantPaymentReference must return a string that is not blank, received ${describeValue(reference)}`,
    );
  }

  /** Calls a function of the options. */
  #call<Result>(
    option: string,
    run: () => Result | PromiseLike<Result>,
  ): Promise<Result | typeof EXPIRED> {
    return withDeadline(run, this.options).catch((error) => {
      this.options.signal?.throwIfAborted();
      throw new CheckFailure(`not tried: ${option} threw ${describeThrown(error)}`);
    });
  }
}

const NO_PROBE = skip('not tried: it needs countEffects', 'countEffects');

const failOfProbe = ({ message }: CheckFailure): CheckVerdict => ({
  ...fail(message),
  remedy: checkTexts['probe-answers'].fix,
});

/** @throws every other error */
function asCheckFailure(error: unknown): CheckFailure {
  if (error instanceof CheckFailure) return error;
  throw error;
}

/** The reason when a payment without any callback has effects. */
export const describeMixture = (what: string): string =>
  `not judged: countEffects does not distinguish ${what}: count by referenceNumber`;
