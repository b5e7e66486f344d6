import type { Issue } from '../../src/errors.js';
import { describeMismatch } from '../../src/protocol/describe-value.js';
import type { CreatePaymentInput, PaymentStatusRecord } from '../../src/protocol/payment.js';

// The rules of src/protocol/payment.ts once more, without a library: its tests hold one to the other.

// Lenient in the spelling (fraction, `Z`, `+0200`), but an offset is required: without it the order of two
// changes would be a guess.
const ISO_DATE_TIME =
  /^\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01])T(?:[01]\d|2[0-3]):[0-5]\d(?::(?:[0-5]\d|60)(?:[.,]\d+)?)?(?:Z|[+-](?:0\d|1\d|2[0-3])(?::?[0-5]\d)?)$/i;

const DAYS_OF_MONTHS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

function hasDay(date: string): boolean {
  const [year = 0, month = 0, day = 0] = date.slice(0, 10).split('-').map(Number);
  const isLeap = year % 400 === 0 || (year % 4 === 0 && year % 100 !== 0);
  return day <= (DAYS_OF_MONTHS[month - 1] ?? 0) + (isLeap && month === 2 ? 1 : 0);
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';

const TEXT = 'a non-empty string';
const DATE_TIME = 'an ISO 8601 date-time with a UTC offset, such as 2026-01-31T12:00:00+00:00';

/** Returns what is wrong with `value` as a status record; `undefined` if it is one. */
export function findStatusRecordIssuesByHand(value: unknown): readonly Issue[] | undefined {
  if (!isObject(value)) {
    return [issue([], 'an object with the fields of a payment status record', value)];
  }
  const record: Fields<PaymentStatusRecord> = value;
  const issues: Issue[] = [];
  const check = (field: keyof PaymentStatusRecord, isValid: boolean, expected: string): void => {
    if (!isValid) issues.push(issue([field], expected, record[field]));
  };
  check('referenceNumber', isText(record.referenceNumber), TEXT);
  check('merchantPaymentReference', isText(record.merchantPaymentReference), TEXT);
  check('status', isText(record.status), TEXT);
  const { updatedAt } = record;
  const isSpelled = typeof updatedAt === 'string' && ISO_DATE_TIME.test(updatedAt);
  check('updatedAt', isSpelled, DATE_TIME);
  if (isSpelled && !hasDay(updatedAt)) {
    const message = `must be ${DATE_TIME}, received a day that its month does not have`;
    issues.push({ path: ['updatedAt'], message });
  }
  return issues.length === 0 ? undefined : issues;
}

/** Returns what is wrong with `value` as a payment creation; `undefined` if it can be sent. */
export function findCreatePaymentIssuesByHand(value: unknown): readonly Issue[] | undefined {
  if (!isObject(value)) {
    return [issue([], 'an object with merchantPaymentReference, amount and currency', value)];
  }
  const { merchantPaymentReference, amount, currency }: Fields<CreatePaymentInput> = value;
  const issues: Issue[] = [];
  if (typeof merchantPaymentReference !== 'string' || merchantPaymentReference.trim() === '') {
    const expected = 'a string that is not blank';
    issues.push(issue(['merchantPaymentReference'], expected, merchantPaymentReference));
  } else if (!merchantPaymentReference.isWellFormed()) {
    // UTF-8 has no bytes for it: the callback may have another character, and then matches no order.
    const message = 'must be well-formed Unicode, received half of a surrogate pair; was it cut?';
    issues.push({ path: ['merchantPaymentReference'], message });
  }
  if (typeof amount !== 'number' || !(Math.abs(amount) <= Number.MAX_SAFE_INTEGER)) {
    // JSON does not carry larger numbers exactly.
    issues.push(issue(['amount'], 'a finite number within ±9007199254740991', amount));
  }
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    const expected = 'three capital letters such as EUR';
    const isLowerCase = typeof currency === 'string' && /^[a-z]{3}$/.test(currency);
    issues.push(
      isLowerCase
        ? { path: ['currency'], message: `must be ${expected}, received lower-case letters` }
        : issue(['currency'], expected, currency),
    );
  }
  return issues.length === 0 ? undefined : issues;
}

type Fields<Shape> = { readonly [Field in keyof Shape]?: unknown };

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function issue(path: readonly PropertyKey[], expected: string, value: unknown): Issue {
  return { path, message: describeMismatch(expected, value) };
}
