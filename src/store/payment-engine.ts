import type { RequestOptions } from '../client/options.js';
import { InvalidOptionError } from '../errors.js';
import {
  invalidOption,
  type OptionRules,
  optional,
  resolveOptions,
  text,
} from '../protocol/options.js';
import { isObject } from '../protocol/own-fields.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import { prepareCreation } from '../protocol/prepared-creation.js';
import type { Backend } from './backend.js';
import type { ManagedStore } from './callback-store.js';
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
import { readListed } from './listed-item.js';
import { ManagedEngine } from './managed-engine.js';
import { OperationLog } from './operation-log.js';
import type { ClientOptions, ResolvedStoreOptions } from './options.js';
import type { Intent, Recording, Statuses } from './payment-row.js';
import type {
  ListedPayment,
  PaymentStore,
  RecordContext,
  RecoverOptions,
  Recovery,
  RecoveryOptions,
  RunningRecovery,
} from './payment-store.js';
import { toIntent, toServiceRecord, toStoredPayment } from './records.js';
import { lookUpRule, recover, startRecovery } from './recover.js';
import { type Sender, sendIfGranted, sendOrWait, type Wanted } from './sending.js';
import type { StoredPayment } from './stored-payment.js';
import { assertNotAborted } from './waiting.js';

const LEASE_MARGIN_MS = 10_000;
const MAX_TRIES = 10;

type CreateOptions = NonNullable<Parameters<PaymentStore['create']>[1]>;

/** A store with a client, over any backend. */
export class PaymentEngine<Tx> extends ManagedEngine<Tx> implements PaymentStore<Tx> {
  readonly #backend: Backend<Tx>;
  readonly #options: ClientOptions;
  readonly #sender: Sender;
  readonly #log: OperationLog;
  readonly #declined: Statuses | undefined;

  constructor(backend: Backend<Tx>, options: ClientOptions) {
    const { client, declined, leaseMs, requestLifetimeMs } = options;
    super(backend, requestLifetimeMs);
    if (leaseMs !== undefined && requestLifetimeMs < leaseMs) {
      throw lifetimeTooShort(requestLifetimeMs, leaseMs);
    }
    this.#backend = backend;
    this.#options = options;
    this.#sender = { backend, client };
    this.#log = new OperationLog(options.logger);
    this.#declined = declined && new Set(declined);
  }

  create(input: CreatePaymentInput, options?: CreateOptions): Promise<StoredPayment> {
    return this.#log.of('create', input, () => this.#create(input, options));
  }

  async #create(
    input: CreatePaymentInput,
    given: CreateOptions | undefined,
  ): Promise<StoredPayment> {
    const { replaces: replaced, ...options } = given ?? {};
    const { body, send, timeoutMs, leaseMs } = this.#prepare(input, options);
    const { key, intent } = toIntent(body, this.#backend.forms);
    const wanted = { key, options, timeoutMs, leaseMs, allowsRejected: true };
    if (replaced === undefined) return this.#createOrder({ ...wanted, intent, send }, intent);
    const replaces = text(replaced, 'replaces');
    assertNotAborted(options.signal);
    const recording = { key, intent, replaces };
    assertRecorded(recording, await this.#backend.record(recording, undefined));
    const sent = await sendOrWait(this.#sender, { ...wanted, intent: undefined });
    return toStoredPayment(sent.stored, sent);
  }

  /** Sends the attempt that a call for the order means: the one that has paid it, the latest, or a further one. */
  async #createOrder(wanted: Wanted, intent: Intent): Promise<StoredPayment> {
    const declined = this.#declined;
    const { key } = wanted;
    let meant: Wanted = { ...wanted, declined };
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      const sent = await sendOrWait(this.#sender, meant);
      if (!sent.isOver) return toStoredPayment(sent.stored, sent);
      const recorded = await this.#backend.record({ key, intent, declined }, undefined);
      // Another call was faster.
      if (recorded.refused !== undefined) continue;
      const { stored } = recorded;
      const isPaid = recorded.intent === undefined && stored !== undefined;
      if (isPaid) return toStoredPayment(stored, { replayed: true });
      assertSame(stored, recorded.intent);
      meant = { ...meant, key: recorded.key, intent: undefined };
    }
    throw notGranted();
  }

  record(input: CreatePaymentInput, context: RecordContext<Tx>): Promise<void> {
    return this.#log.of('record', input, async () => {
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
      const recording = this.toRecord(input, { extraBody, replaces });
      assertRecorded(recording, await this.#backend.record(recording, tx as Tx | undefined));
    });
  }

  /** @internal Validates a payment to record. */
  toRecord(
    input: CreatePaymentInput,
    { extraBody, replaces }: Omit<RecordContext<unknown>, 'tx'>,
  ): Recording {
    const recording = toIntent(this.#prepare(input, { extraBody }).body, this.#backend.forms);
    const declined = replaces === undefined ? this.#declined : undefined;
    return { ...recording, replaces, declined };
  }

  send(merchantPaymentReference: string, options?: RequestOptions): Promise<StoredPayment> {
    return this.#log.of('send', merchantPaymentReference, () =>
      this.#send(merchantPaymentReference, options),
    );
  }

  async #send(reference: string, options: RequestOptions | undefined): Promise<StoredPayment> {
    const key = this.#toKey(reference);
    if (options?.extraBody !== undefined) {
      throw new InvalidOptionError(
        'extraBody',
        'extraBody must be left out: send() sends what was recorded; pass it to record()',
      );
    }
    const resend = this.#toResend(key, options);
    const wanted = { ...resend, allowsRejected: true, declined: this.#declined };
    const sent = await sendOrWait(this.#sender, wanted);
    const order = sent.isOver ? await this.#backend.readOrder(key) : undefined;
    if (order?.paid !== undefined) return toStoredPayment(order.paid.stored, { replayed: true });
    const latest = order?.latest.key ?? key;
    const last = latest === key ? sent : await sendOrWait(this.#sender, { ...wanted, key: latest });
    return toStoredPayment(last.stored, last);
  }

  async getOrder(order: string): Promise<StoredPayment | undefined> {
    const found = await this.#backend.readOrder(this.#toKey(order, 'order'));
    return found && toStoredPayment((found.paid ?? found.latest).stored, { replayed: true });
  }

  async get(merchantPaymentReference: string): Promise<StoredPayment | undefined> {
    const stored = await this.#backend.read(this.#toKey(merchantPaymentReference));
    return stored && toStoredPayment(stored, { replayed: true });
  }

  markCreated(
    merchantPaymentReference: string,
    found: Parameters<PaymentStore['markCreated']>[1],
  ): Promise<void> {
    return this.#log.of('markCreated', { ...found, merchantPaymentReference }, async () => {
      const key = this.#toKey(merchantPaymentReference);
      if (!isObject(found)) {
        throw invalidOption('found', 'an object with the referenceNumber of the payment', found);
      }
      const referenceNumber = text(found.referenceNumber, 'found.referenceNumber');
      const payment = { merchantPaymentReference, referenceNumber };
      const serviceRecord = toServiceRecord(payment, this.#backend.forms);
      const decided = await this.#backend.decide(key, { state: 'created', serviceRecord });
      if (decided.outcome === 'unknown') throw unknownReference();
      if (decided.outcome !== 'moved-on') return;
      // Its callback, or another person, has told the same in the meantime.
      if (decided.stored.referenceNumber === serviceRecord.referenceNumber) return;
      throw notUnresolved(decided.stored);
    });
  }

  markNotCreated(item: ListedPayment): Promise<void> {
    return this.#log.of('markNotCreated', item, async () => {
      const { merchantPaymentReference, attempts, listedAtMs } = readListed(item);
      const key = this.#toKey(merchantPaymentReference);
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
    });
  }

  recover(options: RecoverOptions = {}): Promise<Recovery> {
    return this.#log.of('recover', undefined, async () => {
      const { lookUp } = resolveOptions(options, { lookUp: lookUpRule });
      const { requestLifetimeMs, logger } = this.#options;
      return recover(this.#backend, {
        resend: async (key, isRepetition) => {
          const stored = this.#toResend(key, undefined);
          return sendIfGranted(this.#sender, { ...stored, allowsRejected: false, isRepetition });
        },
        lookUp: lookUp && (async (reference) => lookUp.call(options, reference)),
        lifetimeMs: requestLifetimeMs,
        logger,
        sendsAgain: this.#prepare(SAMPLE, undefined).mayRepeat,
      });
    });
  }

  override async setup(): Promise<void> {
    this.#prepare(SAMPLE, undefined);
    return super.setup();
  }

  startRecovery(options?: RecoveryOptions): RunningRecovery {
    this.#prepare(SAMPLE, undefined);
    const isLogged = this.#options.logger !== undefined;
    return startRecovery((wanted) => this.recover(wanted), options, isLogged);
  }

  #toKey(reference: string, name = 'merchantPaymentReference'): string {
    return this.#backend.forms.toName(text(reference, name));
  }

  /** A payment that is sent as it is stored. */
  #toResend(key: string, options: RequestOptions | undefined) {
    // The client validates options only together with a payment.
    const { timeoutMs, leaseMs } = this.#prepare(SAMPLE, options);
    return { key, intent: undefined, options, timeoutMs, leaseMs };
  }

  /** @throws {InvalidOptionError} also while a variable of the client's environment is missing */
  #prepare(input: CreatePaymentInput, options: RequestOptions | undefined) {
    const { client, leaseMs, requestLifetimeMs } = this.#options;
    const prepared = prepareCreation(client, input, options);
    const { timeoutMs } = prepared;
    if (leaseMs !== undefined) {
      return { ...prepared, timeoutMs: Math.min(timeoutMs, Math.floor(leaseMs / 2)), leaseMs };
    }
    const lease = timeoutMs + LEASE_MARGIN_MS;
    if (lease > requestLifetimeMs) throw timeoutTooLong(timeoutMs, requestLifetimeMs);
    return { ...prepared, leaseMs: lease };
  }
}

const SAMPLE = { merchantPaymentReference: 'sample', amount: 0, currency: 'XXX' };

const recordRules = {
  tx: (value: unknown) => value,
  // Validated later, as part of the payment.
  extraBody: (value: unknown) => value as Record<string, unknown> | undefined,
  replaces: optional(text),
} satisfies OptionRules<RecordContext<unknown>>;

/** The store over a backend: a {@link PaymentStore} if there is a client. */
export function createStore<Tx>(
  backend: Backend<Tx>,
  options: ResolvedStoreOptions,
): ManagedStore<Tx> | PaymentStore<Tx> {
  const { client } = options;
  if (client !== undefined) return new PaymentEngine(backend, { ...options, client });
  const store = new ManagedEngine(backend, options.requestLifetimeMs);
  // For JavaScript: the type has none of these methods.
  for (const method of NEED_CLIENT) Object.assign(store, { [method]: () => refuse(method) });
  return store;
}

const NEED_CLIENT =
  'create record send get getOrder markCreated markNotCreated recover startRecovery'.split(' ');

function refuse(method: string): never {
  throw new InvalidOptionError(
    'client',
    `client is missing, and ${method}() needs it: pass a PaymentClient to the store, as in memoryStore({ client })`,
  );
}
