import {
  maximum,
  minimum,
  minLength,
  number,
  object,
  regex,
  string,
  type ZodMiniType,
} from 'zod/mini';
import type { Issue } from '../../src/errors.js';
import { describeValue } from '../../src/protocol/describe-value.js';

// The rules of src/protocol/payment.ts once more, in another library's words: its tests hold one to the other.

const ISO_DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?(?:Z|[+-](?:0\d|1\d|2[0-3])(?::?[0-5]\d)?)$/i;

const expected = (what: string) => ({
  error: ({ input }: { input?: unknown }) =>
    input === undefined
      ? `is missing, and must be ${what}`
      : `must be ${what}, received ${describeValue(input)}`,
});

const text = expected('a non-empty string');
const dateTime = expected(
  'an ISO 8601 date-time with a UTC offset, such as 2026-01-31T12:00:00+00:00',
);

const statusRecord = object(
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

const amount = expected('a finite number within ±9007199254740991');
const reference = expected('a string that is not blank');
const threeCapitals = expected('three capital letters such as EUR');
const currency = {
  error: ({ input }: { input?: unknown }) =>
    typeof input === 'string' && /^[a-z]{3}$/.test(input)
      ? 'must be three capital letters such as EUR, received lower-case letters'
      : threeCapitals.error({ input }),
};

const createPayment = object(
  {
    merchantPaymentReference: string(reference).check(
      regex(/\S/, reference),
      regex(/^\P{Surrogate}*$/u, {
        error: 'must be well-formed Unicode, received half of a surrogate pair; was it cut?',
      }),
    ),
    amount: number(amount).check(
      minimum(Number.MIN_SAFE_INTEGER, amount),
      maximum(Number.MAX_SAFE_INTEGER, amount),
    ),
    currency: string(currency).check(regex(/^[A-Z]{3}$/, currency)),
  },
  expected('an object with merchantPaymentReference, amount and currency'),
);

export const findStatusRecordIssuesBySchema = (value: unknown) => findBy(statusRecord, value);
export const findCreatePaymentIssuesBySchema = (value: unknown) => findBy(createPayment, value);

// An empty string breaks two rules of one field.
function findBy(schema: ZodMiniType, value: unknown): readonly Issue[] | undefined {
  const result = schema.safeParse(value);
  if (result.success) return undefined;
  const byPlace = new Map<string, Issue>();
  for (const { path, message } of result.error.issues) {
    const place = path.join('.');
    if (!byPlace.has(place)) byPlace.set(place, { path, message });
  }
  return [...byPlace.values()];
}
