import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { text } from '../../protocol/options.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../../protocol/payment.js';
import { type Cap, NewestEntries, type PaymentOrReference, toReference } from './cap.js';
import type { ServiceClock } from './clock.js';
import type { SeededIds } from './seeded-ids.js';

/** A payment of the mock service: its status record, and what it was created from. */
export interface MockPayment extends Readonly<PaymentStatusRecord> {
  /** Identifier of the payment at the downstream provider. */
  readonly providerReference: string;
  /** ISO 8601 date-time with a UTC offset. */
  readonly createdAt: string;
  /** The amount, as given at creation. */
  readonly amount: number;
  /** The currency, as given at creation. */
  readonly currency: string;
  /** Fields of the creation that are not in interface section 2.1, as given. */
  readonly extra: Readonly<Record<string, unknown>>;
  /** Its last 100 statuses, oldest first. The status of its creation is `at` its `createdAt`. */
  readonly history: readonly MockStatusChange[];
  /**
   * The referenceNumber of the first payment with the same merchantPaymentReference, if this is not the first: the order
   * may be paid twice.
   */
  readonly secondOf?: string | undefined;
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
  /**
   * One payment as it is now; `undefined` when there is none.
   *
   * @throws {InvalidOptionError} for a merchantPaymentReference that several payments have
   */
  get(payment: PaymentOrReference): MockPayment | undefined;
}

interface PaymentBookOptions {
  readonly cap: Cap;
  readonly clock: Pick<ServiceClock, 'now'>;
  readonly ids: SeededIds;
  readonly initialStatus: string;
  readonly onChange: (payment: MockPayment) => void;
}

const HISTORY_LIMIT = 100;
const NO_FIELDS = Object.freeze({});

/**
 * Payments and their statuses (interface sections 2.2 and 3). The interface restricts no transition, so any
 * status may follow any other, and setting the same one again is also a change.
 */
export class PaymentBook implements MockPayments {
  readonly #options: PaymentBookOptions;
  readonly #payments: NewestEntries<MockPayment>;
  /** The referenceNumbers of a merchantPaymentReference, oldest first. */
  readonly #numbers = new Map<string, string[]>();
  /** How many are the second, or a later one, of their merchantPaymentReference. */
  seconds = 0;

  constructor(options: PaymentBookOptions) {
    this.#options = options;
    this.#payments = new NewestEntries(options.cap);
  }

  list(): MockPayment[] {
    return this.#payments.list();
  }

  get(payment: PaymentOrReference): MockPayment | undefined {
    const reference = toReference(payment);
    const found = this.#payments.get(reference);
    if (found !== undefined) return found;
    const ofOrder = this.ofOrder(reference);
    if (ofOrder.length < 2) return ofOrder[0];
    const numbers = ofOrder.map(({ referenceNumber }) => referenceNumber);
    throw new InvalidOptionError(
      'referenceNumber',
      `${numbers.length} payments have this merchantPaymentReference; pass the referenceNumber of one: ${numbers.slice(0, 3).join(', ')}`,
    );
  }

  /** @throws {InvalidOptionError} when there is no such payment */
  require(payment: PaymentOrReference): MockPayment {
    const found = this.get(payment);
    if (found !== undefined) return found;
    const { dropped } = this.#options.cap;
    const older = dropped > 0 ? ` (${dropped} older ones were dropped at the limit)` : '';
    throw new InvalidOptionError(
      'referenceNumber',
      `referenceNumber must be that of one of this mock's ${this.#payments.size} payments${older}, or its merchantPaymentReference; received ${describeValue(toReference(payment))}; payments.list() has them`,
    );
  }

  ofOrder(merchantPaymentReference: string): MockPayment[] {
    const numbers = this.#numbers.get(merchantPaymentReference) ?? [];
    return numbers.flatMap((number) => this.#payments.get(number) ?? []);
  }

  /** Always creates a payment: the interface promises no idempotency. */
  create(input: CreatePaymentInput & Record<string, unknown>): MockPayment {
    const { clock, ids, initialStatus, onChange } = this.#options;
    const { merchantPaymentReference, amount, currency, ...extra } = input;
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
      extra: Object.keys(extra).length === 0 ? NO_FIELDS : Object.freeze(extra),
      history: Object.freeze([{ status: initialStatus, at: createdAt }]),
      secondOf: this.#numbers.get(merchantPaymentReference)?.[0],
    });
    this.restore(payment);
    onChange(payment);
    return payment;
  }

  restore(payment: MockPayment): void {
    const { merchantPaymentReference, referenceNumber, secondOf } = payment;
    const numbers = this.#numbers.get(merchantPaymentReference);
    if (numbers === undefined) this.#numbers.set(merchantPaymentReference, [referenceNumber]);
    else numbers.push(referenceNumber);
    if (secondOf !== undefined) this.seconds += 1;
    const dropped = this.#payments.add(referenceNumber, payment);
    if (dropped !== undefined) this.#forget(dropped);
  }

  /** The oldest payment of all is the oldest of its order. */
  #forget({ merchantPaymentReference, secondOf }: MockPayment): void {
    const numbers = this.#numbers.get(merchantPaymentReference);
    numbers?.shift();
    if (numbers?.length === 0) this.#numbers.delete(merchantPaymentReference);
    if (secondOf !== undefined) this.seconds -= 1;
  }

  /** Changes a payment as it is now, or was when it was dropped. */
  change(payment: MockPayment, status: string): MockPayment {
    text(status, 'status');
    const { clock, onChange } = this.#options;
    // Two changes in one millisecond stay ordered by updatedAt.
    const updatedAtMs = Math.max(clock.now(), Date.parse(payment.updatedAt) + 1);
    const updatedAt = toOffsetDateTime(updatedAtMs);
    const history = [...payment.history, { status, at: updatedAt }].slice(-HISTORY_LIMIT);
    const changed = Object.freeze({
      ...payment,
      status,
      updatedAt,
      history: Object.freeze(history),
    });
    this.#payments.replace(payment.referenceNumber, changed);
    onChange(changed);
    return changed;
  }

  clear(): void {
    this.#payments.clear();
    this.#numbers.clear();
    this.seconds = 0;
  }
}

// The interface requires a numeric offset, which toISOString does not write.
function toOffsetDateTime(epochMs: number): string {
  return [new Date(epochMs).toISOString().slice(0, -1), '+00:00'].join('');
}

/** The fields of interface section 2.2, in its order. */
export function toStatusRecord(payment: MockPayment) {
  return {
    referenceNumber: payment.referenceNumber,
    merchantPaymentReference: payment.merchantPaymentReference,
    providerReference: payment.providerReference,
    status: payment.status,
    createdAt: payment.createdAt,
    updatedAt: payment.updatedAt,
  } satisfies PaymentStatusRecord;
}

/** The status that the end of a reference asks for, as in `order-1001-auto-paid`. */
function askedStatus(reference: string): string | undefined {
  const place = reference.lastIndexOf(MARK);
  const status = place < 0 ? '' : reference.slice(place + MARK.length);
  return /^[\w-]+$/.test(status) ? status : undefined;
}
const MARK = '-auto-';

interface AutomaticStatusSettings {
  readonly clock: ServiceClock;
  readonly autoStatus: string | undefined;
  readonly autoStatusAfterMs: number;
}

/** Sets a payment's status some time after its creation, as if the customer had paid. */
export class AutomaticStatuses {
  readonly #settings: AutomaticStatusSettings;
  readonly #setStatus: (payment: MockPayment, status: string) => unknown;
  /** What cancels them, by referenceNumber. */
  readonly #timers = new Map<string, () => void>();

  constructor(
    settings: AutomaticStatusSettings,
    setStatus: (payment: MockPayment, status: string) => unknown,
  ) {
    this.#settings = settings;
    this.#setStatus = setStatus;
  }

  /** To be called with each payment that is created or changed: one that has changed gets no automatic status. */
  consider(payment: MockPayment): void {
    const { clock, autoStatus, autoStatusAfterMs } = this.#settings;
    const { merchantPaymentReference, referenceNumber, createdAt, history } = payment;
    if (history.length > 1) {
      this.#timers.get(referenceNumber)?.();
      this.#timers.delete(referenceNumber);
      return;
    }
    const status = askedStatus(merchantPaymentReference) ?? autoStatus;
    if (status === undefined) return;
    const leftMs = Math.max(0, Date.parse(createdAt) + autoStatusAfterMs - clock.now());
    // Returned, so that a manual clock waits for the callback.
    const cancel = clock.setTimeout(() => this.#setStatus(payment, status), leftMs);
    this.#timers.set(referenceNumber, cancel);
  }

  cancelAll(): void {
    for (const cancel of this.#timers.values()) cancel();
    this.#timers.clear();
  }
}
