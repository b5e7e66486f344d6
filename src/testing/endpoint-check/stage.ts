import { createSecretKey, type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import type { CallbackSender } from '../../mock-server/callbacks/deliver.js';
import { signedHeaders } from '../../mock-server/callbacks/sign.js';
import { describeValue } from '../../protocol/describe-value.js';
import type { PaymentStatusRecord } from '../../protocol/payment.js';
import {
  type Answer,
  CheckFailure,
  type CheckVerdict,
  describeAnswer,
  fail,
  isAccepted,
  remedyOf,
} from './answer.js';
import type { EndpointCheckId } from './checks.js';
import { asCheckFailure, callOption, type EffectCheck, Effects } from './effects.js';
import { Endpoint, type SignedRequest } from './endpoint.js';
import type { CheckedPayment, ResolvedCheckOptions } from './options.js';

/** What a scenario found, by check. Effects may be checked at the end of the run. A check without one was not tried. */
export type Findings = Partial<Record<EndpointCheckId, CheckVerdict | EffectCheck | undefined>>;

/** Requests that belong together, and the checks they decide. */
export interface Scenario {
  /** The checks that `run` decides. */
  readonly ids: readonly [EndpointCheckId, ...EndpointCheckId[]];
  readonly run: (stage: Stage) => Promise<Findings>;
}

/** A status that no endpoint knows. The interface names only `paid`, and promises no list. */
export const UNKNOWN_STATUS = 'check_unknown_status';

/** The key of a sender who does not know the secret. */
export const FOREIGN_KEY = createSecretKey(randomBytes(32));

export interface Change {
  readonly status?: string;
  /** How long after the payment's creation, in seconds. */
  readonly afterSeconds?: number;
  /** The UTC offset that its times are written with, in whole hours from 0 to 9. */
  readonly offsetHours?: number;
}

/** The pauses before further deliveries: about a second in all, whatever Retry-After says. */
const REDELIVERY_PAUSES_MS = [25, 50, 100, 200, 300, 300];

/** What the scenarios of one run share. */
export class Stage {
  readonly options: ResolvedCheckOptions;
  readonly effects: Effects;
  readonly endpoint: Endpoint;
  /** Whether a valid callback was accepted. */
  hasAccepted = false;
  /** Payments whose callbacks were accepted, for later checks to compare with. */
  readonly accepted: {
    /** The first that was `paid`. */
    paid?: CheckedPayment;
    /** The last of all. */
    last?: CheckedPayment;
  } = {};
  /** The verdict, if the endpoint stopped accepting callbacks. */
  outage: CheckVerdict | undefined;
  #made: CheckedPayment[] = [];

  constructor(options: ResolvedCheckOptions, sender: CallbackSender) {
    this.options = options;
    this.effects = new Effects(options, sender);
    this.endpoint = new Endpoint(sender, options);
  }

  /**
   * Makes up a payment for one check only, so that one failure causes no other. The option gives its reference, unless
   * one is passed.
   *
   * @throws {CheckFailure} when the option `merchantPaymentReference` returns no reference
   */
  async createPayment(reference?: string): Promise<CheckedPayment> {
    const payment = await this.#namePayment(reference);
    this.#made.push(payment);
    await this.effects.prepare(payment);
    return payment;
  }

  /** Returns the reference numbers of the payments made up since the last call. */
  takeReferences(): readonly string[] {
    return this.#made.splice(0).map(({ referenceNumber }) => referenceNumber);
  }

  /** Creates the record of a change (interface section 2.2). Its times are past: an endpoint may refuse others. */
  createRecord(
    { referenceNumber, merchantPaymentReference }: CheckedPayment,
    { status = 'paid', afterSeconds = 10, offsetHours = 0 }: Change = {},
  ): PaymentStatusRecord {
    const createdAtMs = this.options.clock.now() - 60_000;
    const toDateTime = (epochMs: number): string =>
      new Date(epochMs + offsetHours * 3_600_000).toISOString().replace('Z', `+0${offsetHours}:00`);
    return {
      referenceNumber,
      merchantPaymentReference,
      providerReference: `check-${referenceNumber.slice(0, 8)}`,
      status,
      createdAt: toDateTime(createdAtMs),
      updatedAt: toDateTime(createdAtMs + afterSeconds * 1000),
    };
  }

  /** Signs a body as the service does (interface section 5.2), with the changes of a check. */
  sign(
    content: object | string,
    signing: { readonly timestamp?: string; readonly key?: KeyObject } = {},
  ): SignedRequest {
    const { signingSecret, signatureEncoding: encoding } = this.options;
    const { timestamp = this.timestampOf(0), key = signingSecret } = signing;
    const body = Buffer.from(typeof content === 'string' ? content : JSON.stringify(content));
    return { headers: signedHeaders({ timestamp, body, key, encoding }), body };
  }

  signChange(payment: CheckedPayment, change?: Change): SignedRequest {
    return this.sign(this.createRecord(payment, change));
  }

  /** X-Timestamp, so far ahead of this machine's clock; negative for the past. */
  timestampOf(aheadSeconds: number): string {
    const seconds = Math.floor(this.options.clock.now() / 1000) + aheadSeconds;
    return String(this.options.timestampUnit === 'seconds' ? seconds : seconds * 1000);
  }

  /** Sends a callback that should be accepted. */
  async deliver(request: SignedRequest): Promise<Answer> {
    const answer = await this.endpoint.post(request);
    this.hasAccepted ||= isAccepted(answer);
    return answer;
  }

  /** Delivers as the service does, until 2xx, and returns the last answer. */
  async deliverUntilAccepted(request: SignedRequest): Promise<Answer> {
    let answer = await this.deliver(request);
    for (const milliseconds of REDELIVERY_PAUSES_MS) {
      const isTimedOut = answer.status === undefined && answer.failureCode === undefined;
      if (isAccepted(answer) || answer.mayLackOrder || isTimedOut) break;
      await this.options.clock.pause(milliseconds);
      answer = await this.deliver(request);
    }
    return answer;
  }

  /** Sends a valid callback, to see whether the endpoint still accepts any after what was seen. */
  async findOutage(after: string): Promise<CheckVerdict | undefined> {
    const payment = await this.#namePayment().catch(asCheckFailure);
    if (payment instanceof CheckFailure) return undefined;
    const answer = await this.deliverUntilAccepted(this.signChange(payment));
    if (isAccepted(answer) || answer.mayLackOrder) return undefined;
    const seen = `after ${after} a valid callback was no longer accepted: the endpoint ${describeAnswer(answer)}`;
    // Anything but a rate limit has its reason in what was sent before.
    this.outage = {
      ...fail(seen, answer),
      remedy: answer.status === 429 ? remedyOf(answer) : undefined,
    };
    return this.outage;
  }

  async #namePayment(reference?: string): Promise<CheckedPayment> {
    const referenceNumber = randomUUID();
    const merchantPaymentReference =
      reference ?? (await this.#takeReference()) ?? `check-${referenceNumber}`;
    return Object.freeze({ referenceNumber, merchantPaymentReference });
  }

  async #takeReference(): Promise<string | undefined> {
    const option = 'merchantPaymentReference';
    const given = this.options[option];
    if (typeof given !== 'function') return given;
    const reference: unknown = await callOption(option, given, this.options);
    if (typeof reference === 'string' && reference.trim() !== '') return reference;
    const received = describeValue(reference);
    throw new CheckFailure(
      `${option} must return a string that is not blank, received ${received}`,
    );
  }
}
