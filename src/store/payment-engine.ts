import type { RequestOptions } from '../client/options.js';
import type { CreatePaymentResult } from '../client/response.js';
import { InvalidOptionError, MerchantPaymentsError } from '../errors.js';
import { describeQuantity } from '../protocol/describe-value.js';
import {
  invalidOption,
  isWholeNumberIn,
  type OptionRules,
  resolveOptions,
  text,
  wholeNumbersIn,
} from '../protocol/options.js';
import { fieldOf, fieldOfAny, ownFields } from '../protocol/own-fields.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import { type PreparedCreation, prepareCreation } from '../protocol/prepared-creation.js';
import type { Backend } from './backend.js';
import { assertSame, movedOn, tooEarly, unknownReference } from './errors.js';
import { ManagedEngine } from './managed-engine.js';
import type { ClientOptions, StoreClient } from './options.js';
import type { Decision, Intent, StoredForms } from './payment-row.js';
import type {
  PaymentStore,
  RecordContext,
  RecoverOptions,
  Recovery,
  RecoveryOptions,
  Resolution,
  RunningRecovery,
  SeenPayment,
} from './payment-store.js';
import { toFinding, toIntent, toStoredPayment } from './records.js';
import { lookUpRule, recover, startRecovery } from './recover.js';
import type { Wanted } from './sending.js';
import { SingleSender } from './single-sender.js';
import type { StoredPayment } from './stored-payment.js';

const LEASE_MARGIN_MS = 10_000;

type Prepared = PreparedCreation<CreatePaymentResult>;

/** A store with a client, over any backend. */
export class PaymentEngine<Tx> extends ManagedEngine<Tx> implements PaymentStore<Tx> {
  readonly #backend: Backend<Tx>;
  readonly #options: ClientOptions;
  readonly #sender: SingleSender;

  constructor(backend: Backend<Tx>, options: ClientOptions) {
    super(backend);
    this.#backend = backend;
    this.#options = options;
    this.#sender = new SingleSender(backend, options.client);
  }

  async create(input: CreatePaymentInput, options?: RequestOptions): Promise<StoredPayment> {
    const { body, send, timeoutMs, leaseMs } = this.#prepare(input, options);
    const { key, intent } = toIntent(body, this.#backend.forms);
    const limits = { timeoutMs, leaseMs };
    const wanted = { key, intent, send, options, allowsRejected: true, ...limits };
    return await named(this.#sender.send(wanted));
  }

  async record(input: CreatePaymentInput, context: RecordContext<Tx>): Promise<void> {
    const { tx, extraBody } = resolveOptions(context, recordRules, {
      owner: 'context',
      holds: 'tx, as in record(payment, { tx })',
    });
    if (this.#backend.needsTransaction && (tx === undefined || tx === null)) {
      throw invalidOption(
        'tx',
        'your open transaction, as in record(payment, { tx })',
        tx,
        'without it, the payment would be sent even if its order is not stored',
      );
    }
    const { key, intent } = this.toRecord(input, extraBody);
    assertSame(await named(this.#backend.record(key, intent, tx as Tx | undefined)), intent);
  }

  /** @internal Validates a payment to record. */
  toRecord(
    input: CreatePaymentInput,
    extraBody: Record<string, unknown> | undefined,
  ): { readonly key: string; readonly intent: Intent } {
    return toIntent(this.#prepare(input, { extraBody }).body, this.#backend.forms);
  }

  async send(merchantPaymentReference: string, options?: RequestOptions): Promise<StoredPayment> {
    const reference = text(merchantPaymentReference, 'merchantPaymentReference');
    if (fieldOfAny(options, 'extraBody') !== undefined) {
      throw new InvalidOptionError(
        'extraBody',
        'extraBody must be left out: send() sends what was recorded; pass it to record()',
      );
    }
    const stored = this.#stored(this.#backend.forms.toName(reference), options);
    return await named(this.#sender.send({ ...stored, allowsRejected: true }));
  }

  async get(merchantPaymentReference: string): Promise<StoredPayment | undefined> {
    const reference = text(merchantPaymentReference, 'merchantPaymentReference');
    const stored = await this.#backend.read(this.#backend.forms.toName(reference));
    return stored && toStoredPayment(stored, { replayed: true });
  }

  async resolve(
    merchantPaymentReference: string,
    as: Resolution,
    seen: SeenPayment,
  ): Promise<void> {
    const reference = text(merchantPaymentReference, 'merchantPaymentReference');
    const decision = toDecision(reference, as, this.#backend.forms);
    const attempts = readAttempts(seen);
    const decided = await this.#backend.resolve(
      this.#backend.forms.toName(reference),
      decision,
      attempts,
    );
    if (decided.outcome === 'unknown') throw unknownReference();
    if (decided.outcome === 'resolved') return;
    if (decided.outcome === 'too-early') throw tooEarly(decided.leftMs);
    const { stored } = decided;
    // Its callback has settled it with the same result in the meantime.
    const found = ownFields(decision).finding?.referenceNumber;
    if (found !== undefined && stored.referenceNumber === found) return;
    throw movedOn(stored, attempts);
  }

  async recover(options: RecoverOptions = {}): Promise<Recovery> {
    const { lookUp } = resolveOptions(options, { lookUp: lookUpRule });
    return recover(this.#backend, {
      resend: async (key, isRepetition) => {
        const stored = this.#stored(key, undefined);
        return this.#sender.resend({ ...stored, allowsRejected: false, isRepetition });
      },
      lookUp:
        lookUp &&
        (async (reference) =>
          toFound(reference, await lookUp.call(options, reference), this.#backend.forms)),
      sendsAgain: mayRepeat(this.#options.client),
    });
  }

  startRecovery(options?: RecoveryOptions): RunningRecovery {
    const isLogged = this.#options.logger !== undefined;
    return startRecovery((wanted) => this.recover(wanted), options, isLogged);
  }

  /** A payment that is already stored. */
  #stored(key: string, options: RequestOptions | undefined): Omit<Wanted, 'allowsRejected'> {
    // The client validates options only together with a payment.
    const { timeoutMs, leaseMs } = this.#prepare(SAMPLE, options);
    return { key, intent: undefined, send: undefined, options, timeoutMs, leaseMs };
  }

  #prepare(
    input: CreatePaymentInput,
    options: RequestOptions | undefined,
  ): Omit<Prepared, 'mayRepeat'> & { leaseMs: number } {
    const { client, leaseMs: longest } = this.#options;
    const prepared: Prepared = prepareCreation(client, input, options);
    const { body, send, timeoutMs: asked } = prepared;
    if (longest === undefined) {
      return { body, send, timeoutMs: asked, leaseMs: asked + LEASE_MARGIN_MS };
    }
    return { body, send, timeoutMs: Math.min(asked, Math.floor(longest / 2)), leaseMs: longest };
  }
}

/** Lets the stack of an error name the caller: where it arose, the package fills the ten frames that V8 keeps. */
async function named<Value>(running: Promise<Value>): Promise<Value> {
  try {
    return await running;
  } catch (error) {
    if (error instanceof MerchantPaymentsError) Error.captureStackTrace?.(error);
    throw error;
  }
}

/** What a look at the service decides: a payment that does not exist may be sent again. */
function toFound(
  merchantPaymentReference: string,
  found: { referenceNumber: string } | 'not-created' | undefined,
  forms: StoredForms,
): Decision | undefined {
  if (found === undefined) return undefined;
  if (found === 'not-created') return { state: 'recorded', failure: undefined };
  return toDecision(merchantPaymentReference, { created: found }, forms);
}

/** Whether the service recognises what this client sends again. */
function mayRepeat(client: StoreClient): boolean {
  try {
    return prepareCreation(client, SAMPLE, undefined).mayRepeat;
  } catch {
    return false; // a variable of its environment is missing, without which nothing can be sent anyway
  }
}

const SAMPLE = { merchantPaymentReference: 'sample', amount: 0, currency: 'XXX' };

const recordRules = {
  tx: (value: unknown) => value,
  // Validated later, as part of the payment.
  extraBody: (value: unknown) => value as Record<string, unknown> | undefined,
} satisfies OptionRules<RecordContext<unknown>>;

/** @throws {InvalidOptionError} when the resolution is invalid */
function toDecision(
  merchantPaymentReference: string,
  resolution: Resolution,
  forms: StoredForms,
): Decision {
  if (resolution === 'not-created') return { state: 'rejected', failure: undefined };
  const created = fieldOfAny(resolution, 'created');
  if (typeof created !== 'object' || created === null) {
    const expected = "'not-created' or { created: { referenceNumber } }";
    const remedy = 'pass it to resolve() after the reference';
    throw invalidOption('as', expected, resolution, remedy);
  }
  const referenceNumber = text(fieldOf(created, 'referenceNumber'), 'as.created.referenceNumber');
  return {
    state: 'created',
    finding: toFinding({ merchantPaymentReference, referenceNumber }, forms),
  };
}

const ATTEMPTS = { unit: 'attempts' };

/** @throws {InvalidOptionError} when the attempts are missing or invalid */
function readAttempts(seen: SeenPayment): number {
  const attempts = fieldOfAny(seen, 'attempts');
  if (isWholeNumberIn(attempts, ATTEMPTS)) return attempts;
  throw invalidOption(
    'seen.attempts',
    wholeNumbersIn(ATTEMPTS),
    attempts,
    'pass the attempts of the payment that was looked up, as attention() lists it',
    describeQuantity(attempts),
  );
}
