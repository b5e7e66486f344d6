import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { MerchantPaymentsError } from '../../errors.js';
import type { CreatePaymentInput } from '../../protocol/payment.js';
import type { ContractCase as AnyContractCase } from '../../storage/contract/guard.js';
import type { OutboxPayment, PaymentOutbox } from '../outbox.js';
import { ContractService } from './service.js';
import type { OutboxContractSubject } from './subject.js';

/** What a case works with: a store, a service, and every call that the case started. */
export class Stage {
  readonly service = new ContractService();
  readonly #subject: OutboxContractSubject<unknown>;
  readonly #calls: Promise<unknown>[] = [];

  constructor(subject: OutboxContractSubject<unknown>) {
    this.#subject = subject;
  }

  /** Opens an outbox over the store, as another process would. */
  async open(): Promise<PaymentOutbox<unknown>> {
    return this.#subject.create({ client: this.service.client });
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

  /** Runs the body in a transaction of the store's database, or without one if the subject has none. */
  async transaction(body: (tx: unknown) => Promise<void>): Promise<void> {
    if (this.#subject.transaction === undefined) await body(undefined);
    else await this.#subject.transaction(body);
  }

  /** Makes the sender of this payment appear dead. */
  async loseLease(reference: string): Promise<void> {
    await this.#subject.loseLease?.(reference);
  }

  async end(): Promise<void> {
    this.service.end();
    await Promise.all(this.#calls);
  }
}

/** The context of a step that uses the outbox's own transaction. */
export const own = { tx: undefined };

/** An ability that not every store has. */
export type Need = 'transaction' | 'loseLease';

export type ContractCase = AnyContractCase<Stage, Need>;

export const test = (name: string, run: ContractCase['run']): ContractCase => ({ name, run });

/** Marks cases that need an ability of the store. */
export const needing = (needs: Need, cases: readonly ContractCase[]): readonly ContractCase[] =>
  cases.map((one) => ({ ...one, needs }));

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
  assert.ok(payment !== undefined, 'the outbox does not know the payment');
  const { state, replayed, attempts } = payment;
  const { referenceNumber, status } = payment.payment ?? {};
  const found: Record<string, unknown> = { state, replayed, attempts, referenceNumber, status };
  for (const [field, value] of Object.entries(expected)) {
    assert.equal(found[field], value, `${field} must be ${value}; received ${found[field]}`);
  }
}

/** Resolves with the error of a call that must reject with this code. */
export async function rejectsWith(call: Promise<unknown>, code: string): Promise<unknown> {
  const outcome = await call.then(
    () => 'nothing',
    (error: unknown) => error,
  );
  if (outcome === 'nothing') assert.fail(`the call must reject with ${code}, but it resolved`);
  if (outcome instanceof MerchantPaymentsError && outcome.code === code) return outcome;
  throw outcome;
}

/** Resolves with all items of a list. */
export async function collect<Item>(list: AsyncIterable<Item>): Promise<Item[]> {
  const items: Item[] = [];
  for await (const item of list) items.push(item);
  return items;
}
