import { InvalidOptionError } from '../errors.js';
import { describeValue } from '../protocol/describe-value.js';
import type { CreatePaymentInput } from '../protocol/payment.js';
import type { MockClock } from './clock/clock.js';
import type { EventFeed } from './events.js';
import type { MockPayment, MockPayments } from './payment.js';
import type { SeededIds } from './seeded-ids.js';

interface PaymentBookOptions {
  readonly clock: MockClock;
  readonly feed: EventFeed;
  readonly ids: SeededIds;
  readonly initialStatus: string;
}

interface PageQuery {
  readonly limit: number;
  /** The referenceNumber of the payment that the page begins behind. */
  readonly before: string | undefined;
  /** A part of a reference or of the status, in any case. */
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

/** Statuses kept of one payment. */
const HISTORY_LIMIT = 100;

/**
 * The state of the mock service: payments and their statuses (interface sections 2.2 and 3). The
 * interface shows no moves between states, so any status may follow any other, and setting the
 * same one again counts as a change too.
 */
export class PaymentBook implements MockPayments {
  readonly #options: PaymentBookOptions;
  readonly #payments = new Map<string, MockPayment>();
  /** In the order of creation, to find a page without walking through all. */
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
      history: Object.freeze([{ status: initialStatus, at: createdAt }]),
    });
    this.#places.set(payment.referenceNumber, this.#order.push(payment.referenceNumber) - 1);
    this.#keep(payment);
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
    this.#options.feed.emit({ type: 'payment', payment });
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
