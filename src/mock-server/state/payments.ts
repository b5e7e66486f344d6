import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import { text } from '../../protocol/options.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../../protocol/payment.js';
import type { MockClock } from './clock.js';
import { PackedTexts } from './packed-texts.js';
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
/** Payments kept as objects: those that changed last. The others are packed. */
const MAX_UNPACKED = 100;
const PACKED_AT_ONCE = 50;

/**
 * Payments and their statuses (interface sections 2.2 and 3). The interface restricts no transition, so any
 * status may follow any other, and setting the same one again is also a change.
 */
export class PaymentBook implements MockPayments {
  readonly #options: PaymentBookOptions;
  /** In the order of creation: the payment, or its place among the packed ones. */
  #payments: (MockPayment | number)[] = [];
  readonly #packed = new PackedTexts();
  /** The places of payments that are not packed. The last has changed last. */
  readonly #unpacked = new Set<number>();
  /** By the key of the referenceNumber. When that is taken, a payment gets the next free key. */
  readonly #places = new Map<number, number>();
  /** By merchantPaymentReference, of the payments searched so far. */
  readonly #firsts = new Map<string, number>();
  #searched = 0;

  constructor(options: PaymentBookOptions) {
    this.#options = options;
  }

  list(): MockPayment[] {
    return this.#payments.map((payment) => this.#unpack(payment));
  }

  get(referenceNumber: string): MockPayment | undefined {
    return this.#at(this.#placeOf(referenceNumber));
  }

  /** The first payment created with this reference. */
  firstOf(merchantPaymentReference: string): MockPayment | undefined {
    for (; this.#searched < this.size; this.#searched += 1) {
      const reference = this.#at(this.#searched)?.merchantPaymentReference ?? '';
      if (!this.#firsts.has(reference)) this.#firsts.set(reference, this.#searched);
    }
    return this.#at(this.#firsts.get(merchantPaymentReference));
  }

  #at(place = -1): MockPayment | undefined {
    const payment = this.#payments[place];
    return payment === undefined ? undefined : this.#unpack(payment);
  }

  #unpack(payment: MockPayment | number): MockPayment {
    return typeof payment === 'number' ? unpack(this.#packed.get(payment)) : payment;
  }

  #placeOf(referenceNumber: string): number | undefined {
    for (let key = toKey(referenceNumber); ; key += 1) {
      const place = this.#places.get(key);
      if (place === undefined || this.#at(place)?.referenceNumber === referenceNumber) return place;
    }
  }

  get size(): number {
    return this.#payments.length;
  }

  /** @throws {InvalidOptionError} when there is no payment `before` */
  page({ limit, before, search }: PageQuery): PaymentPage {
    if (before !== undefined) this.require(before);
    const wanted = search?.toLowerCase() ?? '';
    const end = before === undefined ? this.size : (this.#placeOf(before) ?? 0);
    const found: MockPayment[] = [];
    for (let place = end - 1; place >= 0 && found.length <= limit; place -= 1) {
      const payment = this.#payments[place];
      if (payment === undefined || !this.#isFound(payment, wanted)) continue;
      found.push(this.#unpack(payment));
    }
    const payments = found.slice(0, limit);
    const next = found.length > limit ? payments.at(-1)?.referenceNumber : undefined;
    return { payments, total: this.#count(wanted), next };
  }

  #count(wanted: string): number {
    if (wanted === '') return this.size;
    let count = 0;
    for (const payment of this.#payments) if (this.#isFound(payment, wanted)) count += 1;
    return count;
  }

  #isFound(payment: MockPayment | number, wanted: string): boolean {
    if (wanted === '') return true;
    if (typeof payment !== 'number') return isFound(payment, wanted);
    // Saves unpacking the many that don't match.
    const text = this.#packed.get(payment);
    return text.toLowerCase().includes(inJson(wanted)) && isFound(unpack(text), wanted);
  }

  /** Always creates a payment: the interface promises no idempotency. */
  create(input: CreatePaymentInput & Record<string, unknown>): MockPayment {
    const { clock, ids, initialStatus } = this.#options;
    const createdAt = toOffsetDateTime(clock.now());
    const payment = freeze({
      referenceNumber: ids.next('referenceNumber'),
      merchantPaymentReference: input.merchantPaymentReference,
      providerReference: ids.next('providerReference'),
      status: initialStatus,
      createdAt,
      updatedAt: createdAt,
      amount: input.amount,
      currency: input.currency,
      extra: extraOf(input),
      history: [{ status: initialStatus, at: createdAt }],
    });
    let key = toKey(payment.referenceNumber);
    while (this.#places.has(key)) key += 1;
    this.#places.set(key, this.size);
    this.#keep(payment, this.size);
    return payment;
  }

  /** @throws {InvalidOptionError} when there is no such payment, or `status` is blank */
  setStatus(referenceNumber: string, status: string): MockPayment {
    const payment = this.require(referenceNumber);
    text(status, 'status');
    // Two changes in one millisecond stay ordered by updatedAt.
    const updatedAtMs = Math.max(this.#options.clock.now(), Date.parse(payment.updatedAt) + 1);
    const updatedAt = toOffsetDateTime(updatedAtMs);
    const history = [...payment.history, { status, at: updatedAt }].slice(-HISTORY_LIMIT);
    const changed = freeze({ ...payment, status, updatedAt, history });
    this.#keep(changed, this.#placeOf(referenceNumber) ?? 0);
    return changed;
  }

  #keep(payment: MockPayment, place: number): void {
    const before = this.#payments[place];
    if (typeof before === 'number') this.#packed.delete(before);
    this.#payments[place] = payment;
    this.#unpacked.delete(place);
    this.#unpacked.add(place);
    if (this.#unpacked.size > MAX_UNPACKED) this.#packOldest();
    this.#options.onChange(payment);
  }

  // Many at once: finding a set's first element takes time for each that was deleted before it.
  #packOldest(): void {
    for (const place of this.#unpacked) {
      if (this.#unpacked.size <= MAX_UNPACKED - PACKED_AT_ONCE) break;
      this.#unpacked.delete(place);
      const payment = this.#at(place);
      if (payment !== undefined) this.#payments[place] = this.#packed.add(pack(payment));
    }
    if (this.#packed.isMostlyWaste) this.#repack();
  }

  #repack(): void {
    const texts = this.#payments.map((one) =>
      typeof one === 'number' ? this.#packed.get(one) : one,
    );
    this.#packed.clear();
    this.#payments = texts.map((one) => (typeof one === 'string' ? this.#packed.add(one) : one));
  }

  /** Remembers a payment as it is now, for `recall` after further changes. */
  remember({ referenceNumber, status, updatedAt }: MockPayment): PastPayment {
    return { place: this.#placeOf(referenceNumber) ?? -1, status, atMs: Date.parse(updatedAt) };
  }

  /** The payment as it was. Lacks the changes that have dropped out of its history since. */
  recall({ place, status, atMs }: PastPayment): MockPayment | undefined {
    const payment = this.#at(place);
    if (payment === undefined || Date.parse(payment.updatedAt) === atMs) return payment;
    const updatedAt = toOffsetDateTime(atMs);
    const history = payment.history.filter(({ at }) => Date.parse(at) < atMs);
    return freeze({
      ...payment,
      status,
      updatedAt,
      history: [...history, { status, at: updatedAt }],
    });
  }

  /** @throws {InvalidOptionError} when there is no such payment */
  require(referenceNumber: string): MockPayment {
    const payment = this.get(referenceNumber);
    if (payment !== undefined) return payment;
    throw new InvalidOptionError(
      'referenceNumber',
      `referenceNumber must be that of one of the ${this.size} payments of this service; received ${describeValue(referenceNumber)}; take it from the answer to the creation or from payments.list()`,
    );
  }

  clear(): void {
    this.#payments = [];
    this.#packed.clear();
    this.#unpacked.clear();
    this.#places.clear();
    this.#firsts.clear();
    this.#searched = 0;
  }
}

const NOTHING = Object.freeze({});

function extraOf(input: CreatePaymentInput & Record<string, unknown>): Record<string, unknown> {
  // Most have only the three fields, and the rest is slow to make.
  if (Object.keys(input).length === 3) return NOTHING;
  const { merchantPaymentReference, amount, currency, ...extra } = input;
  return Object.freeze(extra);
}

/** All in one shape, which takes the least memory. */
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

/** The first 28 bits, which are random. As a small integer it takes no extra memory in a map. */
function toKey(referenceNumber: string): number {
  return Number.parseInt(referenceNumber.slice(0, 7), 16);
}

/** Identifies a payment as it was after a change. */
export interface PastPayment {
  readonly place: number;
  readonly status: string;
  readonly atMs: number;
}

type PackedFields = [
  referenceNumber: string,
  merchantPaymentReference: string,
  providerReference: string,
  createdAtMs: number,
  amount: number,
  currency: string,
  extra: Record<string, unknown>,
  ...history: (readonly [status: string, atMs: number])[],
];

/** A payment as text, which takes a fifth of the object's memory. */
function pack(payment: MockPayment): string {
  const fields: PackedFields = [
    payment.referenceNumber,
    payment.merchantPaymentReference,
    payment.providerReference,
    Date.parse(payment.createdAt),
    payment.amount,
    payment.currency,
    payment.extra,
    ...payment.history.map(({ status, at }) => [status, Date.parse(at)] as const),
  ];
  return JSON.stringify(fields);
}

function unpack(packed: string): MockPayment {
  const [
    referenceNumber,
    merchantPaymentReference,
    providerReference,
    createdAtMs,
    amount,
    currency,
    extra,
    ...changes
  ] = JSON.parse(packed) as PackedFields;
  const history = changes.map(([status, atMs]) => ({ status, at: toOffsetDateTime(atMs) }));
  const createdAt = toOffsetDateTime(createdAtMs);
  const { status, at: updatedAt } = history.at(-1) ?? { status: '', at: createdAt };
  return freeze({
    referenceNumber,
    merchantPaymentReference,
    providerReference,
    status,
    createdAt,
    updatedAt,
    amount,
    currency,
    extra: Object.freeze(extra),
    history,
  });
}

function isFound(payment: MockPayment, wanted: string): boolean {
  const { referenceNumber, merchantPaymentReference, providerReference, status } = payment;
  return [referenceNumber, merchantPaymentReference, providerReference, status].some((text) =>
    text.toLowerCase().includes(wanted),
  );
}

const inJson = (text: string): string => JSON.stringify(text).slice(1, -1);

let lastDateTime = { epochMs: Number.NaN, text: '' };

// The interface requires a numeric offset, which toISOString does not write. join() makes a flat string;
// replace() would make one that keeps its parts, three times its size.
// Creations within a millisecond share the string.
function toOffsetDateTime(epochMs: number): string {
  if (epochMs === lastDateTime.epochMs) return lastDateTime.text;
  const text = [new Date(epochMs).toISOString().slice(0, -1), '+00:00'].join('');
  lastDateTime = { epochMs, text };
  return text;
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
