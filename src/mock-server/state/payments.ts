import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { text } from '../../protocol/options.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../../protocol/payment.js';
import type { MockClock } from './clock.js';
import type { SeededIds } from './seeded-ids.js';

/** A payment of the mock service: its status record and what it was created from. */
export interface MockPayment extends Readonly<PaymentStatusRecord> {
  /** The amount, as given at creation. */
  readonly amount: number;
  /** The currency, as given at creation. */
  readonly currency: string;
  /** Fields of the creation beyond those of interface section 2.1, as given. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** The last 100 statuses it had, oldest first. That of its creation is `at` its `createdAt`. */
  readonly history: readonly MockStatusChange[];
}

/** A status that a payment has or had. */
export interface MockStatusChange {
  /** The status. */
  readonly status: string;
  /** When it was set: the `updatedAt` of the change. */
  readonly at: string;
}

/** Read access to the payments of a mock service. */
export interface MockPayments {
  /** Every payment in the order of creation, as it is now. */
  list(): MockPayment[];
  /** One payment as it is now; `undefined` when there is none. */
  get(referenceNumber: string): MockPayment | undefined;
}

interface PaymentBookOptions {
  readonly clock: MockClock;
  readonly ids: SeededIds;
  readonly initialStatus: string;
  /** Called with each payment that was created or changed. */
  readonly onChange: (payment: MockPayment) => void;
}

interface PageQuery {
  readonly limit: number;
  /** The referenceNumber of the last payment of the page before. */
  readonly before: string | undefined;
  /** Part of a reference or of the status, in upper or lower case. */
  readonly search: string | undefined;
}

/** Payments, newest first. */
interface PaymentPage {
  readonly payments: readonly MockPayment[];
  /** How many match in all. */
  readonly total: number;
  /** The `before` of the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

const HISTORY_LIMIT = 100;

/**
 * Payments and their statuses (interface sections 2.2 and 3). The interface shows no moves between
 * statuses, so any may follow any other, and setting the same one again is a change too.
 */
export class PaymentBook implements MockPayments {
  readonly #options: PaymentBookOptions;
  readonly #payments = new Map<string, MockPayment>();
  /** In the order of creation, so that a page is found without a walk through all. */
  readonly #order: string[] = [];
  readonly #places = new Map<string, number>();

  constructor(options: PaymentBookOptions) {
    this.#options = options;
  }

  list(): MockPayment[] {
    return [...this.#payments.values()];
  }

  get(referenceNumber: string): MockPayment | undefined {
    return this.#payments.get(referenceNumber);
  }

  get size(): number {
    return this.#payments.size;
  }

  /** @throws {InvalidOptionError} when there is no payment `before` */
  page({ limit, before, search }: PageQuery): PaymentPage {
    if (before !== undefined) this.require(before);
    const wanted = search?.toLowerCase() ?? '';
    const end = before === undefined ? this.#order.length : (this.#places.get(before) ?? 0);
    const found: MockPayment[] = [];
    for (let place = end - 1; place >= 0 && found.length <= limit; place -= 1) {
      const payment = this.#payments.get(this.#order[place] ?? '');
      if (payment !== undefined && isFound(payment, wanted)) found.push(payment);
    }
    const payments = found.slice(0, limit);
    const next = found.length > limit ? payments.at(-1)?.referenceNumber : undefined;
    return { payments, total: this.#count(wanted), next };
  }

  #count(wanted: string): number {
    if (wanted === '') return this.#payments.size;
    let count = 0;
    for (const payment of this.#payments.values()) if (isFound(payment, wanted)) count += 1;
    return count;
  }

  /** Always creates a new payment: the interface promises no idempotency. */
  create(input: CreatePaymentInput & Record<string, unknown>): MockPayment {
    const { merchantPaymentReference, amount, currency, ...extra } = input;
    const { clock, ids, initialStatus } = this.#options;
    const createdAt = toOffsetDateTime(clock.now());
    const payment: MockPayment = Object.freeze({
      referenceNumber: ids.next('referenceNumber'),
      merchantPaymentReference,
      providerReference: ids.next('providerReference'),
      status: initialStatus,
      createdAt,
      updatedAt: createdAt,
      amount,
      currency,
      extra: Object.freeze(extra),
      history: Object.freeze([{ status: initialStatus, at: createdAt }]),
    });
    this.#places.set(payment.referenceNumber, this.#order.push(payment.referenceNumber) - 1);
    this.#keep(payment);
    return payment;
  }

  /** @throws {InvalidOptionError} when there is no such payment, or `status` is blank */
  setStatus(referenceNumber: string, status: string): MockPayment {
    const payment = this.require(referenceNumber);
    text(status, 'status');
    // Keeps the order by updatedAt of two changes within one millisecond.
    const updatedAtMs = Math.max(this.#options.clock.now(), Date.parse(payment.updatedAt) + 1);
    const updatedAt = toOffsetDateTime(updatedAtMs);
    const history = [...payment.history, { status, at: updatedAt }].slice(-HISTORY_LIMIT);
    const changed = Object.freeze({
      ...payment,
      status,
      updatedAt,
      history: Object.freeze(history),
    });
    this.#keep(changed);
    return changed;
  }

  #keep(payment: MockPayment): void {
    this.#payments.set(payment.referenceNumber, payment);
    this.#options.onChange(payment);
  }

  /** @throws {InvalidOptionError} when there is no such payment */
  require(referenceNumber: string): MockPayment {
    const payment = this.#payments.get(referenceNumber);
    if (payment !== undefined) return payment;
    throw new InvalidOptionError(
      'referenceNumber',
      `referenceNumber must be that of one of the ${this.#payments.size} payments of this service, but received ${describeValue(referenceNumber)}; take it from the answer to the creation or from payments.list()`,
    );
  }

  clear(): void {
    this.#payments.clear();
    this.#places.clear();
    this.#order.length = 0;
  }
}

function isFound(payment: MockPayment, wanted: string): boolean {
  if (wanted === '') return true;
  const { referenceNumber, merchantPaymentReference, providerReference, status } = payment;
  return [referenceNumber, merchantPaymentReference, providerReference, status].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}

// The interface asks for a numeric offset, which toISOString does not write.
function toOffsetDateTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '+00:00');
}

/** The fields of interface section 2.2, in its order. */
export function toStatusRecord(payment: MockPayment): PaymentStatusRecord {
  return {
    referenceNumber: payment.referenceNumber,
    merchantPaymentReference: payment.merchantPaymentReference,
    providerReference: payment.providerReference,
    status: payment.status,
    createdAt: payment.createdAt,
    updatedAt: payment.updatedAt,
  };
}
