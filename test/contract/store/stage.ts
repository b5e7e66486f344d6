import { randomUUID } from 'node:crypto';
import { assert, expect } from 'vitest';
import { ApiError, MerchantPaymentsError } from '../../../src/errors.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../../../src/protocol/payment.js';
import type { Attention, AttentionKind, AttentionOptions } from '../../../src/store/attention.js';
import type { CallbackStore, ManagedStore } from '../../../src/store/callback-store.js';
import type { PaymentStore } from '../../../src/store/payment-store.js';
import type { PaymentFields, StoredPayment } from '../../../src/store/stored-payment.js';
import type { ContractOptions, StoreUnderTest } from '../store.js';
import { CallbackStage } from './callback-stage.js';
import { createPayment, type Payment, recordOf } from './changes.js';
import type { Delivery } from './delivery.js';
import { ContractService } from './service.js';

/** What a case about payments works with: also a service, and every call that the case started. */
export class Stage extends CallbackStage {
  readonly service = new ContractService();
  readonly #store: StoreUnderTest;
  readonly #calls: Promise<unknown>[] = [];

  constructor(store: StoreUnderTest) {
    super(store);
    this.#store = store;
  }

  /** Opens a store without a client over the data, as another process would. */
  async openManaged(): Promise<ManagedStore<unknown>> {
    return this.#store.create({});
  }

  /** Opens a store with a client over the data, as another process would. */
  async openPayments(
    client: ContractOptions['client'] = this.service.client,
  ): Promise<PaymentStore<unknown>> {
    const store = await this.#store.create({ client });
    assert('create' in store);
    return store as PaymentStore<unknown>;
  }

  /** The same for a store that tries again after `declined`. */
  async openShop(): Promise<PaymentStore<unknown>> {
    const { client } = this.service;
    return (await this.#store.create({ client, declined: ['declined'] })) as PaymentStore<unknown>;
  }

  /** Opens a store, and creates the input of a payment that no other case uses. */
  async payment() {
    const input = createInput();
    return { store: await this.openPayments(), input, reference: input.merchantPaymentReference };
  }

  /** Creates a payment. Returns makers of changes of it and of a second payment of its order. */
  async createKnown(store: PaymentStore<unknown>) {
    const input = createInput();
    const reference = input.merchantPaymentReference;
    await store.create(input);
    const first = this.paymentOf(reference);
    const other = createPayment({ merchantPaymentReference: reference });
    return { input, reference, referenceNumber: first().payment.referenceNumber, first, other };
  }

  /** Makes changes of the payment that the service has created for the reference. */
  paymentOf(merchantPaymentReference: string): Payment {
    const [referenceNumber = ''] = this.service.paymentsOf(merchantPaymentReference);
    return createPayment({ merchantPaymentReference, referenceNumber });
  }

  /** Registers a call that the case does not await yet. */
  start<Value>(call: Promise<Value>): Promise<Value> {
    this.#calls.push(call.catch(() => undefined));
    return call;
  }

  /** Creates a payment that exists at the service, but is unresolved in the store. */
  async createUnresolved(store: PaymentStore<unknown>) {
    const input = createInput();
    const reference = input.merchantPaymentReference;
    this.service.answer(reference, 'answer-lost');
    await store.create(input);
    const [referenceNumber = ''] = this.service.paymentsOf(reference);
    return { input, reference, referenceNumber };
  }

  /** The same, of which the last attempt can no longer create it. */
  async createOver() {
    const store = await this.openPayments();
    const unresolved = await this.createUnresolved(store);
    await this.loseLease(unresolved.reference);
    return { store, ...unresolved };
  }

  /** Creates an unresolved payment, of which the service can no longer create one. */
  async createOutlived() {
    const { store, ...unresolved } = await this.createOver();
    await this.outlive(unresolved.reference);
    return { store, ...unresolved };
  }

  /** Starts to create a payment that the service receives but does not answer yet. */
  async createHeld(store: PaymentStore<unknown>) {
    const input = createInput();
    const reference = input.merchantPaymentReference;
    const held = this.service.hold(reference);
    const call = this.start(store.create(input));
    await held.received;
    return { input, reference, held, call };
  }

  /** Creates a payment whose sender appears dead, but still waits for its answer. */
  async loseSender(store: PaymentStore<unknown>) {
    const sending = await this.createHeld(store);
    await this.loseLease(sending.reference);
    return sending;
  }

  /** Records the payment in a transaction. */
  async record(store: PaymentStore<unknown>, input: CreatePaymentInput): Promise<void> {
    await this.transaction((tx) => store.record(input, { tx }));
  }

  /** Runs the body in a transaction of the store's database, or without one if the store has none. */
  async transaction(body: (tx: unknown) => Promise<void>): Promise<void> {
    if (this.#store.transaction === undefined) await body(undefined);
    else await this.#store.transaction(body);
  }

  /** What the store's transactions are on. */
  get database(): unknown {
    return this.#store.database?.();
  }

  /** Processes a new change with this record. Its work does nothing. */
  async callback(store: CallbackStore<unknown>, payment: PaymentStatusRecord): Promise<Delivery> {
    const delivery = this.deliver(store, { key: randomUUID(), payment });
    await delivery.answers('processed');
    return delivery;
  }

  /** Processes the `paid` of a payment that the service has created for the reference, and returns its record. */
  async pay(
    store: CallbackStore<unknown>,
    reference: string,
    referenceNumber: string = randomUUID(),
  ): Promise<PaymentStatusRecord> {
    const record = recordOf(reference, { referenceNumber, status: 'paid' });
    await this.callback(store, record);
    return record;
  }

  /** Processes a change of the payment that the service has created for the reference. */
  async change(
    store: CallbackStore<unknown>,
    reference: string,
    status: string,
    more: Partial<PaymentStatusRecord> = {},
  ): Promise<Delivery> {
    const [referenceNumber = ''] = this.service.paymentsOf(reference);
    return this.callback(store, { ...recordOf(reference, { referenceNumber, status }), ...more });
  }

  /** What needs a person because of one order. */
  async attentionTo(reference: string, options?: AttentionOptions): Promise<Attention[]> {
    const items = await collect((await this.openManaged()).attention(options));
    return items.filter((item) => item.merchantPaymentReference === reference);
  }

  /** Ends the lease of this payment: a sender that still has it appears dead. */
  async loseLease(reference: string): Promise<void> {
    await this.letPass(reference, 60_000);
  }

  /** Ends the time in which the service may act on a request. */
  async outlive(reference: string): Promise<void> {
    await this.letPass(reference, 900_000);
  }

  /** Makes a payment look as if this many milliseconds had passed. */
  async letPass(reference: string, ms: number): Promise<void> {
    await this.#store.letPass(reference, ms);
  }

  /** The only item of a kind about an order, whatever its age; undefined if there is none. */
  async itemOf<Kind extends AttentionKind>(kind: Kind, reference: string) {
    const items = await this.attentionTo(reference, { kinds: [kind], olderThanMs: 0 });
    expect(items.length).toBeLessThanOrEqual(1);
    return ofKind(kind, items)[0];
  }

  /** The item of a payment that may be marked as not created. */
  async listed(reference: string, kind: 'unresolved' | 'no-callback' = 'unresolved') {
    const item = await this.itemOf(kind, reference);
    assert(item !== undefined);
    return item;
  }

  override async end(): Promise<void> {
    this.service.end();
    await Promise.all(this.#calls);
    await super.end();
  }
}

/** The input of a payment that no other case uses. */
export function createInput(fields: Partial<CreatePaymentInput> = {}): CreatePaymentInput {
  return { merchantPaymentReference: randomUUID(), amount: 2500, currency: 'EUR', ...fields };
}

/** The record of a payment that is created. */
export function recordIn(stored: StoredPayment | undefined): PaymentFields | undefined {
  return stored?.state === 'created' ? stored.payment : undefined;
}

/** Asserts the given fields of a payment from a store. */
export function assertPayment(
  payment: StoredPayment | undefined,
  expected: Partial<Pick<StoredPayment, 'state' | 'replayed' | 'attempts'>> & {
    readonly error?: unknown;
    readonly referenceNumber?: string | undefined;
    readonly status?: string;
  },
): void {
  assert(payment !== undefined);
  const { state, replayed, attempts, error } = payment;
  const { referenceNumber, status } = recordIn(payment) ?? {};
  const found = { state, replayed, attempts, error, referenceNumber, status };
  expect(found).toMatchObject(expected);
}

/** Asserts that a call rejects with an error of the package that has this code. */
export async function rejectsWith(
  call: Promise<unknown>,
  code: string,
): Promise<MerchantPaymentsError> {
  const error = await call.then(
    () => new Error(`The call resolved, and did not reject with ${code}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MerchantPaymentsError && error.code === code)) throw error;
  return error;
}

/** Asserts that the service refuses the payment of a call, and resolves with the error. */
export async function isRefused(call: Promise<StoredPayment>): Promise<ApiError> {
  const payment = await call;
  assertPayment(payment, { state: 'rejected', replayed: false });
  const { error } = payment;
  assert(error instanceof ApiError);
  expect(error.requestOutcome).toBe('rejected');
  return error;
}

/** Resolves with all items of a list. */
export async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** The items of this kind. */
export function ofKind<Kind extends AttentionKind>(
  kind: Kind,
  items: readonly Attention[],
): Extract<Attention, { kind: Kind }>[] {
  return items.filter((item): item is Extract<Attention, { kind: Kind }> => item.kind === kind);
}

/** The references of payments or items. */
export function referencesOf(
  payments: readonly { readonly merchantPaymentReference: string }[],
): string[] {
  return payments.map(({ merchantPaymentReference }) => merchantPaymentReference);
}
