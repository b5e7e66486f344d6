import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { hasDateTimeForm, hasRealDay } from './instant.js';
import { findIssues, type Hints, type ShapeOf } from './schema.js';

/**
 * A payment's status record: the body of a callback (interface section 2.2). Other fields are kept. The two by which
 * nothing is decided may be missing or null, and are left out if they are of another type than here.
 */
export interface PaymentStatusRecord {
  /** The service's identifier of the payment. */
  referenceNumber: string;
  /** The merchant's own reference, as given at creation. */
  merchantPaymentReference: string;
  /** Identifier of the payment at the downstream provider. May be empty. */
  providerReference?: string | null;
  /** The status. The interface names only `paid`; expect any other text too. */
  status: 'paid' | (string & {});
  /** ISO 8601 date-time with a UTC offset. */
  createdAt?: string | null;
  /** ISO 8601 date-time with a UTC offset. It orders the changes of a payment. */
  updatedAt: string;
}

/** The fields of a new payment (interface section 2.1). All three are sent. */
export interface CreatePaymentInput {
  /** The merchant's own reference, for example an order number. Not blank. */
  merchantPaymentReference: string;
  /** A number that JSON carries exactly: finite and within ±(2^53 − 1). The interface states no unit. */
  amount: number;
  /** Three capital letters, for example `EUR`. */
  currency: string;
}

const TEXT = 'a non-empty string';
const text = z.string(TEXT).check(z.regex(/./s, TEXT));

/** Whether `value` is a date-time that a status record may have. */
export function isDateTime(value: unknown): boolean {
  return typeof value === 'string' && hasDateTimeForm(value) && hasRealDay(value);
}

const DATE_TIME = 'an ISO 8601 date-time with a UTC offset, such as 2026-01-31T12:00:00+00:00';
const dateTime = z.string(DATE_TIME).check(
  z.refine(hasDateTimeForm, { error: DATE_TIME, abort: true }),
  z.refine(hasRealDay, {
    error: DATE_TIME,
    params: { received: () => 'a day that its month does not have' } satisfies Hints,
  }),
);

type Undeciding = 'providerReference' | 'createdAt';

/** What a status record must be. */
export const statusRecord = {
  fields: {
    referenceNumber: text,
    merchantPaymentReference: text,
    status: text,
    updatedAt: dateTime,
  } satisfies ShapeOf<Omit<PaymentStatusRecord, Undeciding>>,
  expected: 'an object with the fields of a payment status record',
};

/** The fields of a status record, in the interface's order. */
export const statusRecordFields = [
  ...(['referenceNumber', 'merchantPaymentReference', 'providerReference'] as const),
  ...(['status', 'createdAt', 'updatedAt'] as const),
] satisfies readonly (keyof PaymentStatusRecord)[];

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

/** Says what {@link statusRecord} says, in a fifth of the time; a test holds the two together. */
export function isStatusRecord(value: unknown): value is PaymentStatusRecord {
  const record = (value ?? {}) as Partial<PaymentStatusRecord>;
  return (
    isText(record.referenceNumber) &&
    isText(record.merchantPaymentReference) &&
    isText(record.status) &&
    isDateTime(record.updatedAt)
  );
}

/** Returns what is wrong with `value` as a status record; `undefined` if it is one. */
export const findStatusRecordIssues = (value: unknown): readonly Issue[] | undefined =>
  isStatusRecord(value) ? undefined : findIssues(statusRecord, value);

/** Leaves out the fields by which nothing is decided, where they are not what they should be. */
export function leaveOutUnusable(record: PaymentStatusRecord): PaymentStatusRecord {
  const { providerReference, createdAt } = record;
  if (providerReference != null && typeof providerReference !== 'string') {
    Reflect.deleteProperty(record, 'providerReference');
  }
  if (createdAt != null && !isDateTime(createdAt)) Reflect.deleteProperty(record, 'createdAt');
  return record;
}

/** Whether a status record says that the payment is paid. The interface names no other status. */
export function isPaid({ status }: Pick<PaymentStatusRecord, 'status'>): boolean {
  return status === 'paid';
}
