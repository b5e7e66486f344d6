import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../protocol/payment.js';
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
}

/**
 * The state of the mock service: payments and their statuses (interface sections 2.2 and 3). The
 * interface shows no moves between states, so any status may follow any other, and setting the
 * same one again counts as a change too.
 */
export class PaymentBook implements MockPayments {
  readonly #options: PaymentBookOptions;
  readonly #payments = new Map<string, MockPayment>();

  constructor(options: PaymentBookOptions) {
    this.#options = options;
  }

  list(): MockPayment[] {
    return [...this.#payments.values()];
  }

  get(referenceNumber: string): MockPayment | undefined {
    return this.#payments.get(referenceNumber);
  }

  /** Every creation makes a payment of its own: the interface promises no idempotency. */
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
    });
    this.#payments.set(payment.referenceNumber, payment);
    return payment;
  }

  /** @throws {InvalidOptionError} when there is no such payment, or `status` is no text */
  setStatus(referenceNumber: string, status: string): MockPayment {
    const payment = this.require(referenceNumber);
    if (typeof status !== 'string' || status.trim() === '') {
      throw new InvalidOptionError(
        'status',
        `status must be a string that is not blank, but ${describeValue(status)} came`,
      );
    }
    // Two changes within one millisecond must still tell their order by updatedAt.
    const updatedAtMs = Math.max(this.#options.clock.now(), Date.parse(payment.updatedAt) + 1);
    const changed = Object.freeze({
      ...payment,
      status,
      updatedAt: toOffsetDateTime(updatedAtMs),
    });
    this.#payments.set(referenceNumber, changed);
    return changed;
  }

  /** @throws {InvalidOptionError} when there is no such payment */
  require(referenceNumber: string): MockPayment {
    const payment = this.#payments.get(referenceNumber);
    if (payment !== undefined) return payment;
    throw new InvalidOptionError(
      'referenceNumber',
      `referenceNumber must be the one of a payment of this service, which has ${this.#payments.size}, but ${describeValue(referenceNumber)} came that is none; take it from the answer to the creation or from payments.list()`,
    );
  }

  clear(): void {
    this.#payments.clear();
  }
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

// The interface asks for a numeric offset, which toISOString does not write.
function toOffsetDateTime(epochMs: number): string {
  return new Date(epochMs).toISOString().replace('Z', '+00:00');
}
