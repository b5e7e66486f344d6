import { randomUUID } from 'node:crypto';
import { assert, expect } from 'vitest';
import { MerchantPaymentsError } from '../../../src/errors.js';
import type { OutboxPayment, PaymentOutbox } from '../../../src/store/outbox.js';
import type { CreatePaymentInput } from '../../../src/protocol/payment.js';
import type { OutboxUnderTest } from '../outbox.js';
import { ContractService } from './service.js';

/** What a case works with: a store, a service, and every call that the case started. */
export class Stage {
  readonly service = new ContractService();
  readonly #store: OutboxUnderTest;
  readonly #calls: Promise<unknown>[] = [];

  constructor(store: OutboxUnderTest) {
    this.#store = store;
  }

  /** Opens an outbox over the store, as another process would. */
  async open(): Promise<PaymentOutbox<unknown>> {
    return this.#store.create(this.service.client);
  }

  /** Opens an outbox, and creates the input of a payment that no other case uses. */
  async scene() {
    const input = createInput();
    return { outbox: await this.open(), input, reference: input.merchantPaymentReference };
  }

  /** Registers a call that the case does not await yet. */
  start<Value>(call: Promise<Value>): Promise<Value> {
    this.#calls.push(call.catch(() => undefined));
    return call;
  }

  /** Creates a payment that exists at the service, but is unresolved in the outbox. */
  async createUnresolved(outbox: PaymentOutbox<unknown>) {
    const input = createInput();
    const reference = input.merchantPaymentReference;
    this.service.answer(reference, 'answer-lost');
    await outbox.create(input);
    const [referenceNumber = ''] = this.service.paymentsOf(reference);
    return { input, reference, referenceNumber };
  }

  /** Starts to create a payment that the service receives but does not answer yet. */
  async createHeld(outbox: PaymentOutbox<unknown>) {
    const input = createInput();
    const reference = input.merchantPaymentReference;
    const held = this.service.hold(reference);
    const call = this.start(outbox.create(input));
    await held.received;
    return { input, reference, held, call };
  }

  /** Records the payment in a transaction. */
  async record(outbox: PaymentOutbox<unknown>, input: CreatePaymentInput): Promise<void> {
    await this.transaction((tx) => outbox.record(input, { tx }));
  }

  /** Runs the body in a transaction of the store's database, or without one if the store has none. */
  async transaction(body: (tx: unknown) => Promise<void>): Promise<void> {
    if (this.#store.transaction === undefined) await body(undefined);
    else await this.#store.transaction(body);
  }

  /** Ends the lease of this payment: a sender that still has it appears dead. */
  async loseLease(reference: string): Promise<void> {
    await this.#store.loseLease(reference);
  }

  async end(): Promise<void> {
    this.service.end();
    await Promise.all(this.#calls);
  }
}

/** The context of a step that uses the outbox's own transaction. */
export const own = { tx: undefined };

/** Makes a test of a case. */
export type It = (name: string, run: (stage: Stage) => Promise<void>) => void;

/** The input of a payment that no other case uses. */
export function createInput(fields: Partial<CreatePaymentInput> = {}): CreatePaymentInput {
  return { merchantPaymentReference: randomUUID(), amount: 2500, currency: 'EUR', ...fields };
}

/** Asserts the given fields of a payment from an outbox. */
export function assertPayment(
  payment: OutboxPayment | undefined,
  expected: Partial<Pick<OutboxPayment, 'state' | 'replayed' | 'attempts'>> & {
    readonly referenceNumber?: string | undefined;
    readonly status?: string;
  },
): void {
  assert(payment !== undefined);
  const { state, replayed, attempts } = payment;
  const { referenceNumber, status } = payment.payment ?? {};
  const found = { state, replayed, attempts, referenceNumber, status };
  expect(found).toMatchObject(expected);
}

/** Asserts that a call rejects with an error of the package that has this code. */
export async function rejectsWith(call: Promise<unknown>, code: string): Promise<void> {
  const error = await call.then(
    () => new Error(`The call resolved, and did not reject with ${code}`),
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof MerchantPaymentsError && error.code === code)) throw error;
}

/** Resolves with all items of a list. */
export async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}

/** The references of payments. */
export function referencesOf(payments: readonly OutboxPayment[]): string[] {
  return payments.map(({ merchantPaymentReference }) => merchantPaymentReference);
}
