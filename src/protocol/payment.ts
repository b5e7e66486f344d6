import { maximum, minimum, minLength, number, object, regex, string } from 'zod/mini';
import type { Issue } from '../errors.js';
import { describeValue } from './describe-value.js';

/** A payment's status record: the body of a callback (interface section 2.2). Fields the interface does not show are kept. */
export interface PaymentStatusRecord {
  /** The service's identifier of the payment. */
  referenceNumber: string;
  /** The merchant's own reference, as given at creation. */
  merchantPaymentReference: string;
  /** Identifier of the payment at the downstream provider. May be empty. */
  providerReference: string;
  /** The status. The interface names `paid` only; expect any other text. */
  status: 'paid' | (string & {});
  /** ISO 8601 date-time with a UTC offset. */
  createdAt: string;
  /** ISO 8601 date-time with a UTC offset. Tells the order of two changes of one payment. */
  updatedAt: string;
}

/** What a payment is created from (interface section 2.1). All three fields are sent. */
export interface CreatePaymentInput {
  /** The merchant's own reference, for example an order number. Not blank. */
  merchantPaymentReference: string;
  /** A number that JSON carries exactly: finite and within ±(2^53 − 1). The interface names no unit. */
  amount: number;
  /** Three capital letters, for example `EUR`. */
  currency: string;
}

/** The fields of a status record, in the interface's order. */
export const statusRecordFields = [
  'referenceNumber',
  'merchantPaymentReference',
  'providerReference',
  'status',
  'createdAt',
  'updatedAt',
] as const satisfies readonly (keyof PaymentStatusRecord)[];

// Lenient in the spelling (fraction, `Z`, `+0200`), strict in having an offset: without one the
// order of two changes is a guess.
const ISO_DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?(?:Z|[+-](?:0\d|1\d|2[0-3])(?::?[0-5]\d)?)$/i;

const NOT_BLANK = /\S/;
const CURRENCY = /^[A-Z]{3}$/;

const expected = (what: string) => ({
  error: ({ input }: { input?: unknown }) => `must be ${what}, but ${describeValue(input)} came`,
});

const text = expected('a non-empty string');
const dateTime = expected(
  'an ISO 8601 date-time with a UTC offset, such as 2026-01-31T12:00:00+00:00',
);

// Built when first needed, which for most processes is never.
let statusRecordSchema: ReturnType<typeof createStatusRecordSchema> | undefined;

const createStatusRecordSchema = () =>
  object(
    {
      referenceNumber: string(text).check(minLength(1, text)),
      merchantPaymentReference: string(text).check(minLength(1, text)),
      providerReference: string(expected('a string')),
      status: string(text).check(minLength(1, text)),
      createdAt: string(dateTime).check(regex(ISO_DATE_TIME, dateTime)),
      updatedAt: string(dateTime).check(regex(ISO_DATE_TIME, dateTime)),
    },
    expected('an object with the fields of a payment status record'),
  );

const amount = expected('a finite number within ±9007199254740991, which JSON carries exactly');
const reference = expected('a string that is not blank');
const currency = expected('three capital letters such as EUR');

let createPaymentSchema: ReturnType<typeof createCreatePaymentSchema> | undefined;

const createCreatePaymentSchema = () =>
  object(
    {
      merchantPaymentReference: string(reference).check(regex(NOT_BLANK, reference)),
      amount: number(amount).check(
        minimum(Number.MIN_SAFE_INTEGER, amount),
        maximum(Number.MAX_SAFE_INTEGER, amount),
      ),
      currency: string(currency).check(regex(CURRENCY, currency)),
    },
    expected('an object with merchantPaymentReference, amount and currency'),
  );

/** What is wrong with `value` as a status record; nothing when it is one. */
export function findStatusRecordIssues(value: unknown): readonly Issue[] | undefined {
  return isPlainStatusRecord(value) ? undefined : findStatusRecordIssuesBySchema(value);
}

/** As {@link findStatusRecordIssues}, without its shortcut. */
export function findStatusRecordIssuesBySchema(value: unknown): readonly Issue[] | undefined {
  statusRecordSchema ??= createStatusRecordSchema();
  const result = statusRecordSchema.safeParse(value);
  return result.success ? undefined : firstIssuePerPath(result.error.issues);
}

// The schema's rules once more, in the form that costs a sixth: nearly every callback is a good one.
// It may only answer true where the schema finds nothing; a property test holds the two together.
function isPlainStatusRecord(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Partial<Record<keyof PaymentStatusRecord, unknown>>;
  return (
    isText(record.referenceNumber) &&
    isText(record.merchantPaymentReference) &&
    typeof record.providerReference === 'string' &&
    isText(record.status) &&
    isDateTime(record.createdAt) &&
    isDateTime(record.updatedAt)
  );
}

const isText = (value: unknown): value is string => typeof value === 'string' && value !== '';
/** Whether `value` is a date-time as a status record must have. */
export const isDateTime = (value: unknown): boolean =>
  typeof value === 'string' && ISO_DATE_TIME.test(value);

/** What is wrong with `value` as a payment creation; nothing when it can be sent. */
export function findCreatePaymentIssues(value: unknown): readonly Issue[] | undefined {
  return isPlainCreatePayment(value) ? undefined : findCreatePaymentIssuesBySchema(value);
}

/** As {@link findCreatePaymentIssues}, without its shortcut. */
export function findCreatePaymentIssuesBySchema(value: unknown): readonly Issue[] | undefined {
  createPaymentSchema ??= createCreatePaymentSchema();
  const result = createPaymentSchema.safeParse(value);
  return result.success ? undefined : firstIssuePerPath(result.error.issues);
}

// The same shortcut as for the record.
function isPlainCreatePayment(value: unknown): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const input = value as Partial<Record<keyof CreatePaymentInput, unknown>>;
  return (
    isText(input.currency) &&
    CURRENCY.test(input.currency) &&
    isText(input.merchantPaymentReference) &&
    NOT_BLANK.test(input.merchantPaymentReference) &&
    typeof input.amount === 'number' &&
    Math.abs(input.amount) <= Number.MAX_SAFE_INTEGER
  );
}

// An empty string breaks two rules of one field; the user needs the sentence once.
function firstIssuePerPath(issues: readonly Issue[]): readonly Issue[] {
  const seen = new Set<string>();
  return issues
    .filter(({ path }) => {
      const place = path.join('.');
      return !seen.has(place) && seen.add(place);
    })
    .map(({ path, message }) => ({ path, message }));
}
