import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { text } from '../../protocol/options.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../../protocol/payment.js';
import { type Cap, NewestEntries } from './cap.js';
import type { MockClock } from './clock.js';
import type { SeededIds } from './seeded-ids.js';

/** A payment of the mock service: its status record, and what it was created from. */
export interface MockPayment extends Readonly<PaymentStatusRecord> {
  /** The amount, as given at creation. */
  readonly amount: number;
  /** The currency, as given at creation. */
  readonly currency: string;
  /** Fields of the creation that are not in interface section 2.1, as given. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** Its last 100 statuses, oldest first. The status of its creation is `at` its `createdAt`. */
  readonly history: readonly MockStatusChange[];
}

/** A current or past status of a payment. */
export interface MockStatusChange {
  /** The status. */
  readonly status: string;
  /** When it was set: the `updatedAt` of the change. */
  readonly at: string;
}

/** Read access to the payments of a mock service. */
export interface MockPayments {
  /** The last 10,000 payments in the order of creation, each as it is now. */
  list(): MockPayment[];
  /** One payment as it is now; `undefined` when there is none. */
  get(referenceNumber: string): MockPayment | undefined;
}

interface PaymentBookOptions {
  readonly cap: Cap;
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
  /** Part of a reference or of the status, in any case. */
  readonly search: string | undefined;
}

/** Payments, newest first. */
interface PaymentPage {
  readonly payments: readonly MockPayment[];
  /** How many payments match. */
  readonly total: number;
  /** The `before` of the next page; `undefined` on the last. */
  readonly next: string | undefined;
}

const HISTORY_LIMIT = 100;

/**
 * Payments and their statuses (interface sections 2.2 and 3). The interface restricts no transition, so any
 * status may follow any other, and setting the same one again is also a change.
 */
export class PaymentBook implements MockPayments {
  readonly #options: PaymentBookOptions;
  readonly #payments: NewestEntries<MockPayment>;

  constructor(options: PaymentBookOptions) {
    this.#options = options;
    this.#payments = new NewestEntries(options.cap);
  }

  get size(): number {
    return this.#payments.size;
  }

  list(): MockPayment[] {
    return this.#payments.list();
  }

  get(referenceNumber: string): MockPayment | undefined {
    return this.#payments.get(referenceNumber);
  }

  /** @throws {InvalidOptionError} when there is no such payment */
  require(referenceNumber: string): MockPayment {
    const payment = this.get(referenceNumber);
    if (payment !== undefined) return payment;
    const { dropped } = this.#options.cap;
    const older = dropped > 0 ? ` (${dropped} older ones were dropped at the limit)` : '';
    throw new InvalidOptionError(
      'referenceNumber',
      `referenceNumber must be that of one of the ${this.size} payments of this service${older}; received ${describeValue(referenceNumber)}; take it from the answer to the creation or from payments.list()`,
    );
  }

  /** The first payment created with this reference. */
  firstOf(merchantPaymentReference: string): MockPayment | undefined {
    return this.list().find((one) => one.merchantPaymentReference === merchantPaymentReference);
  }

  /** @throws {InvalidOptionError} when there is no payment `before` */
  page({ limit, before, search = '' }: PageQuery): PaymentPage {
    const last = before === undefined ? undefined : this.require(before);
    const wanted = search.toLowerCase();
    const newestFirst = this.list().reverse();
    const older =
      last === undefined ? newestFirst : newestFirst.slice(newestFirst.indexOf(last) + 1);
    const matches = (payment: MockPayment) => isFound(payment, wanted);
    const found = older.filter(matches);
    const payments = found.slice(0, limit);
    const next = found.length > limit ? payments.at(-1)?.referenceNumber : undefined;
    return { payments, total: newestFirst.filter(matches).length, next };
  }

  /** Always creates a payment: the interface promises no idempotency. */
  create(input: CreatePaymentInput & Record<string, unknown>): MockPayment {
    const { clock, ids, initialStatus, onChange } = this.#options;
    const { merchantPaymentReference, amount, currency, ...extra } = input;
    const createdAt = toOffsetDateTime(clock.now());
    const payment = freeze({
      referenceNumber: ids.next('referenceNumber'),
      merchantPaymentReference,
      providerReference: ids.next('providerReference'),
      status: initialStatus,
      createdAt,
      updatedAt: createdAt,
      amount,
      currency,
      extra: Object.freeze(extra),
      history: [{ status: initialStatus, at: createdAt }],
    });
    this.#payments.add(payment.referenceNumber, payment);
    onChange(payment);
    return payment;
  }

  /**
   * Changes a payment as it is now, or was when it was dropped.
   *
   * @throws {InvalidOptionError} when `status` is blank
   */
  change(payment: MockPayment, status: string): MockPayment {
    text(status, 'status');
    const { clock, onChange } = this.#options;
    // Two changes in one millisecond stay ordered by updatedAt.
    const updatedAtMs = Math.max(clock.now(), Date.parse(payment.updatedAt) + 1);
    const updatedAt = toOffsetDateTime(updatedAtMs);
    const history = [...payment.history, { status, at: updatedAt }].slice(-HISTORY_LIMIT);
    const changed = freeze({ ...payment, status, updatedAt, history });
    this.#payments.replace(payment.referenceNumber, changed);
    onChange(changed);
    return changed;
  }

  clear(): void {
    this.#payments.clear();
  }
}

// Field by field, so that all have one shape: a third less memory than a copy by spreading.
function freeze(payment: MockPayment): MockPayment {
  return Object.freeze({
    referenceNumber: payment.referenceNumber,
    merchantPaymentReference: payment.merchantPaymentReference,
    providerReference: payment.providerReference,
    status: payment.status,
    createdAt: payment.createdAt,
    updatedAt: payment.updatedAt,
    amount: payment.amount,
    currency: payment.currency,
    extra: payment.extra,
    history: Object.freeze(payment.history),
  });
}

function isFound(payment: MockPayment, wanted: string): boolean {
  const { referenceNumber, merchantPaymentReference, providerReference, status } = payment;
  return [referenceNumber, merchantPaymentReference, providerReference, status].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}

// The interface requires a numeric offset, which toISOString does not write.
function toOffsetDateTime(epochMs: number): string {
  return [new Date(epochMs).toISOString().slice(0, -1), '+00:00'].join('');
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
