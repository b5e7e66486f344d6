import type { RequestOptions } from '../client/options.js';
import type { CreatePaymentResult } from '../client/response.js';
import { InvalidOptionError, MerchantPaymentsError } from '../errors.js';
import {
  invalidOption,
  type OptionRules,
  optional,
  resolveOptions,
  text,
} from '../protocol/options.js';
import { fieldOf, fieldOfAny, isObject } from '../protocol/own-fields.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import { type PreparedCreation, prepareCreation } from '../protocol/prepared-creation.js';
import type { Backend } from './backend.js';
import {
  assertRecorded,
  assertSame,
  lifetimeTooShort,
  movedOn,
  notGranted,
  notUnresolved,
  timeoutTooLong,
  tooEarly,
  unknownReference,
} from './errors.js';
import { readListed } from './listed-payment.js';
import type { MissedPayment } from './looks.js';
import { ManagedEngine } from './managed-engine.js';
import type { ClientOptions, StoreClient } from './options.js';
import { isOver } from './order-steps.js';
import type { PaymentRow, Recording, Statuses } from './payment-row.js';
import type {
  ListedPayment,
  PaymentStore,
  RecordContext,
  RecoverOptions,
  Recovery,
  RecoveryOptions,
  RunningRecovery,
} from './payment-store.js';
import { toFinding, toIntent, toStoredPayment } from './records.js';
import { lookUpRule, recover, startRecovery } from './recover.js';
import type { Turn, Wanted } from './sending.js';
import { SingleSender } from './single-sender.js';
import type { StoredPayment } from './stored-payment.js';
import { assertNotAborted, signalOf } from './waiting.js';

const LEASE_MARGIN_MS = 10_000;
const MAX_TRIES = 10;

type Prepared = PreparedCreation<CreatePaymentResult>;
type Limited = Pick<Wanted, 'timeoutMs' | 'leaseMs'> & Pick<Prepared, 'body' | 'send'>;

/** A store with a client, over any backend. */
export class PaymentEngine<Tx> extends ManagedEngine<Tx> implements PaymentStore<Tx> {
  readonly #backend: Backend<Tx>;
  readonly #options: ClientOptions;
  readonly #sender: SingleSender;
  readonly #declined: Statuses | undefined;

  constructor(backend: Backend<Tx>, options: ClientOptions) {
    super(backend, options);
    const { client, leaseMs, requestLifetimeMs } = options;
    if (leaseMs !== undefined && requestLifetimeMs < leaseMs) {
      throw lifetimeTooShort(requestLifetimeMs, leaseMs);
    }
    this.#backend = backend;
    this.#options = options;
    this.#sender = new SingleSender(backend, client);
    this.#declined = options.declined && new Set(options.declined);
    const prepared = tryToPrepare(client);
    if (prepared !== undefined) this.#limit(prepared);
  }

  async create(
    input: CreatePaymentInput,
    given?: RequestOptions & { readonly replaces?: string | undefined },
  ): Promise<StoredPayment> {
    const { options, replaced } = splitOptions(given);
    const { body, send, timeoutMs, leaseMs } = this.#prepare(input, options);
    const { key, intent } = toIntent(body, this.#backend.forms);
    const limits = { timeoutMs, leaseMs };
    const wanted = { key, intent, send, options, allowsRejected: true, ...limits };
    if (replaced === undefined) return await namedResult(this.#createOrder(wanted));
    const replaces = text(replaced, 'replaces');
    assertNotAborted(signalOf(options));
    await named(this.#record({ key, intent, replaces }, undefined));
    return await namedResult(this.#send({ ...wanted, ...STORED }));
  }

  async #send(wanted: Wanted): Promise<StoredPayment> {
    const turn = await this.#sender.send(wanted);
    return toStoredPayment(turn.stored as PaymentRow, turn);
  }

  /** Sends the attempt that a call for the order means: the one that has paid it, the latest, or a further one. */
  async #createOrder(wanted: Wanted & Pick<Recording, 'intent'>): Promise<StoredPayment> {
    const declined = this.#declined;
    if (declined === undefined) return this.#send(wanted);
    const { key, intent } = wanted;
    let meant: Wanted = wanted;
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const { turn, isOver } = await this.#try(meant, declined);
      if (!isOver) return toStoredPayment(turn.stored as PaymentRow, turn);
      const recorded = await this.#backend.record({ key, intent, declined }, undefined);
      // Another call was faster.
      if (recorded.refused !== undefined) continue;
      const { stored } = recorded;
      const isPaid = recorded.intent === undefined && stored !== undefined;
      if (isPaid) return toStoredPayment(stored, { replayed: true });
      assertSame(stored, recorded.intent);
      meant = { ...wanted, ...STORED, key: recorded.key };
    }
    throw notGranted();
  }

  /** The same for what is stored: no further attempt is made. */
  async #sendOrder(wanted: Wanted): Promise<StoredPayment> {
    const declined = this.#declined;
    if (declined === undefined) return this.#send(wanted);
    const { turn, isOver } = await this.#try(wanted, declined);
    const order = isOver ? await this.#backend.readOrder(wanted.key) : undefined;
    if (order?.paid !== undefined) return toStoredPayment(order.paid.stored, { replayed: true });
    const { key } = order?.latest ?? wanted;
    const latest = key === wanted.key ? turn : (await this.#try({ ...wanted, key }, declined)).turn;
    return toStoredPayment(latest.stored as PaymentRow, latest);
  }

  /** Sends an attempt, unless a call for its order means another one. */
  async #try(
    wanted: Wanted,
    declined: Statuses,
  ): Promise<{ readonly turn: Turn; readonly isOver: boolean }> {
    const turn = await this.#sender.send({ ...wanted, isOver: (one) => isOver(one, declined) });
    const { stored, replayed, isPaid } = turn;
    const isOther = replayed && stored !== undefined && isOver(stored, declined);
    return { turn, isOver: isOther || isPaid === true };
  }

  async record(input: CreatePaymentInput, context: RecordContext<Tx>): Promise<void> {
    const { tx, extraBody, replaces } = resolveOptions(context, recordRules, {
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
    await named(this.#record(this.toRecord(input, { extraBody, replaces }), tx as Tx | undefined));
  }

  async #record(recording: Recording, tx: Tx | undefined): Promise<void> {
    assertRecorded(recording, await this.#backend.record(recording, tx));
  }

  /** @internal Validates a payment to record. */
  toRecord(
    input: CreatePaymentInput,
    { extraBody, replaces }: Omit<RecordContext<unknown>, 'tx'>,
  ): Recording {
    const recording = toIntent(this.#prepare(input, { extraBody }).body, this.#backend.forms);
    return {
      ...recording,
      replaces,
      declined: replaces === undefined ? this.#declined : undefined,
    };
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
    return await namedResult(this.#sendOrder({ ...stored, allowsRejected: true }));
  }

  async getOrder(order: string): Promise<StoredPayment | undefined> {
    const reference = text(order, 'order');
    const found = await this.#backend.readOrder(this.#backend.forms.toName(reference));
    return found && toStoredPayment((found.paid ?? found.latest).stored, { replayed: true });
  }

  async get(merchantPaymentReference: string): Promise<StoredPayment | undefined> {
    const reference = text(merchantPaymentReference, 'merchantPaymentReference');
    const stored = await this.#backend.read(this.#backend.forms.toName(reference));
    return stored && toStoredPayment(stored, { replayed: true });
  }

  async markCreated(
    merchantPaymentReference: string,
    found: Parameters<PaymentStore['markCreated']>[1],
  ): Promise<void> {
    const reference = text(merchantPaymentReference, 'merchantPaymentReference');
    if (!isObject(found)) {
      throw invalidOption('found', 'an object with the referenceNumber of the payment', found);
    }
    const referenceNumber = text(fieldOf(found, 'referenceNumber'), 'found.referenceNumber');
    const { forms } = this.#backend;
    const finding = toFinding({ merchantPaymentReference: reference, referenceNumber }, forms);
    const decision = { state: 'created', finding } as const;
    const decided = await this.#backend.decide(forms.toName(reference), decision);
    if (decided.outcome === 'unknown') throw unknownReference();
    if (decided.outcome !== 'moved-on') return;
    // Its callback, or another person, has told the same in the meantime.
    if (decided.stored.referenceNumber === finding.referenceNumber) return;
    throw notUnresolved(decided.stored);
  }

  async markNotCreated(item: ListedPayment): Promise<void> {
    const { merchantPaymentReference, attempts, listedAtMs } = readListed(item);
    const key = this.#backend.forms.toName(merchantPaymentReference);
    const { requestLifetimeMs: lifetimeMs } = this.#options;
    const decision = { state: 'rejected', attempts, listedAtMs, lifetimeMs } as const;
    const decided = await this.#backend.decide(key, decision);
    if (decided.outcome === 'unknown') throw unknownReference();
    if (decided.outcome === 'too-early') throw tooEarly(decided.leftMs);
    if (decided.outcome === 'decided') return;
    const { stored } = decided;
    // The same decision, made before.
    if (stored.state === 'rejected' && stored.attempts === attempts) return;
    throw movedOn(stored, attempts);
  }

  async recover(options: RecoverOptions = {}): Promise<Recovery> {
    const { lookUp } = resolveOptions(options, { lookUp: lookUpRule });
    const { client, requestLifetimeMs } = this.#options;
    return recover(this.#backend, {
      resend: async (key, isRepetition) => {
        const stored = this.#stored(key, undefined);
        return this.#sender.resend({ ...stored, allowsRejected: false, isRepetition });
      },
      lookUp: lookUp && (async (reference) => lookUp.call(options, reference)),
      lifetimeMs: requestLifetimeMs,
      onMissed: (found) => this.onMissed(found),
      sendsAgain: tryToPrepare(client)?.mayRepeat === true,
    });
  }

  /** @internal Called for a payment that `lookUp` has found paid, and of which no callback has come. */
  protected onMissed(_found: MissedPayment): void {}

  override async setup(): Promise<void> {
    this.#prepare(SAMPLE, undefined);
    return super.setup();
  }

  startRecovery(options?: RecoveryOptions): RunningRecovery {
    this.#prepare(SAMPLE, undefined);
    const isLogged = this.#options.logger !== undefined;
    return startRecovery((wanted) => this.recover(wanted), options, isLogged);
  }

  /** A payment that is already stored. */
  #stored(key: string, options: RequestOptions | undefined): Omit<Wanted, 'allowsRejected'> {
    // The client validates options only together with a payment.
    const { timeoutMs, leaseMs } = this.#prepare(SAMPLE, options);
    return { key, intent: undefined, send: undefined, options, timeoutMs, leaseMs };
  }

  #prepare(input: CreatePaymentInput, options: RequestOptions | undefined): Limited {
    return this.#limit(prepareCreation(this.#options.client, input, options));
  }

  #limit(prepared: Prepared): Limited {
    const { leaseMs, requestLifetimeMs } = this.#options;
    const { body, send, timeoutMs: asked } = prepared;
    if (leaseMs !== undefined) {
      return { body, send, timeoutMs: Math.min(asked, Math.floor(leaseMs / 2)), leaseMs };
    }
    const lease = asked + LEASE_MARGIN_MS;
    if (lease > requestLifetimeMs) throw timeoutTooLong(asked, requestLifetimeMs);
    return { body, send, timeoutMs: asked, leaseMs: lease };
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

/** The same for the error of a result. */
async function namedResult(running: Promise<StoredPayment>): Promise<StoredPayment> {
  const stored = await named(running);
  if (stored.error !== undefined) Error.captureStackTrace?.(stored.error);
  return stored;
}

/** Undefined if a variable of the client's environment is missing, without which nothing can be sent anyway. */
function tryToPrepare(client: StoreClient): Prepared | undefined {
  try {
    return prepareCreation(client, SAMPLE, undefined);
  } catch {
    return undefined;
  }
}

/** The client knows no `replaces`. */
function splitOptions(given: (RequestOptions & { readonly replaces?: unknown }) | undefined): {
  readonly options: RequestOptions | undefined;
  readonly replaced: unknown;
} {
  if (!isObject(given)) return { options: given, replaced: undefined };
  const { replaces: replaced, ...options } = given;
  return { options, replaced };
}

/** How a payment that is recorded is sent: as it is stored. */
const STORED = { intent: undefined, send: undefined };

const SAMPLE = { merchantPaymentReference: 'sample', amount: 0, currency: 'XXX' };

const recordRules = {
  tx: (value: unknown) => value,
  // Validated later, as part of the payment.
  extraBody: (value: unknown) => value as Record<string, unknown> | undefined,
  replaces: optional(text),
} satisfies OptionRules<RecordContext<unknown>>;
