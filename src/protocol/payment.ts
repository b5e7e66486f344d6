import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { hasRealDay } from './instant.js';
import { fields, findIssues, type Hints, type ShapeOf } from './schema.js';

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

// Lenient in the spelling (fraction, `Z`, `+0200`), but an offset is required: without it the order of two
// changes would be a guess.
const ISO_DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?(?:Z|[+-](?:0\d|1\d|2[0-3])(?::?[0-5]\d)?)$/i;
const DATE_TIME = 'an ISO 8601 date-time with a UTC offset, such as 2026-01-31T12:00:00+00:00';
const dateTime = z.string(DATE_TIME).check(
  z.regex(ISO_DATE_TIME, { error: DATE_TIME, abort: true }),
  z.refine(hasRealDay, {
    error: DATE_TIME,
    params: { received: () => 'a day that its month does not have' } satisfies Hints,
  }),
);

const recordFields = {
  referenceNumber: text,
  merchantPaymentReference: text,
  providerReference: z.optional(z.nullable(z.string('a string or null'))),
  status: text,
  createdAt: z.optional(z.nullable(dateTime)),
  updatedAt: dateTime,
} satisfies ShapeOf<PaymentStatusRecord>;

const statusRecord = fields(recordFields, 'an object with the fields of a payment status record');

/** The fields of a status record, in the interface's order. */
export const statusRecordFields = Object.keys(
  recordFields,
) as readonly (keyof PaymentStatusRecord)[];

/** Whether `value` is a date-time that a status record may have. */
export const isDateTime = (value: unknown): boolean =>
  typeof value === 'string' && ISO_DATE_TIME.test(value) && hasRealDay(value);

/** Returns what is wrong with `value` as a status record; `undefined` if it is one. */
export const findStatusRecordIssues = (value: unknown): readonly Issue[] | undefined =>
  findIssues(statusRecord, value);

const UNDECIDING: readonly PropertyKey[] = [
  'providerReference',
  'createdAt',
] satisfies (keyof PaymentStatusRecord)[];

/** Whether nothing is decided by the field that an issue is about, so that the record is of use without it. */
export const isAboutUndeciding = ({ path: [field] }: Issue): boolean =>
  field !== undefined && UNDECIDING.includes(field);

/** Whether a status record says that the payment is paid. The interface names no other status. */
export function isPaid({ status }: Pick<PaymentStatusRecord, 'status'>): boolean {
  return status === 'paid';
}
