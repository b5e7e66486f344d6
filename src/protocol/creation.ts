import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import { isObject } from './own-fields.js';
import type { CreatePaymentInput } from './payment.js';
import { findIssues, type Hints, type ShapeOf } from './schema.js';

const REFERENCE = 'a string that is not blank';
const reference = z.string(REFERENCE).check(
  z.refine((value) => value.trim() !== '', { error: REFERENCE, abort: true }),
  // UTF-8 has no bytes for it: the callback may have another character, and then matches no order.
  z.refine((value) => value.isWellFormed(), {
    error: 'well-formed Unicode',
    params: { received: () => 'half of a surrogate pair; was it cut?' } satisfies Hints,
  }),
);

// JSON does not carry larger numbers exactly.
const AMOUNT = 'a finite number within ±9007199254740991';
const amount = z
  .number(AMOUNT)
  .check(z.gte(Number.MIN_SAFE_INTEGER, AMOUNT), z.lte(Number.MAX_SAFE_INTEGER, AMOUNT));

// 19.99 * 100 is 1998.9999999999998. A double keeps 15 digits of any decimal number; what remains is a rounding error.
const toMeant = (value: number): number => Number(value.toPrecision(15));
const exactAmount = amount.check(
  z.refine((value) => Number.isInteger(value) || Number.isNaN(value) || toMeant(value) === value, {
    error: 'a number without a rounding error',
    params: {
      received: (value) =>
        `one with; was ${toMeant(value as number)} meant? Round it, or calculate in whole units`,
    } satisfies Hints,
  }),
);

const CURRENCY = 'three capital letters such as EUR';
const currency = z.string(CURRENCY).check(
  z.refine((value) => !/^[a-z]{3}$/.test(value), {
    error: CURRENCY,
    abort: true,
    params: { received: () => 'lower-case letters' } satisfies Hints,
  }),
  z.regex(/^[A-Z]{3}$/, CURRENCY),
);

const fields = {
  merchantPaymentReference: reference,
  amount,
  currency,
} satisfies ShapeOf<CreatePaymentInput>;
const expected = 'an object with merchantPaymentReference, amount and currency';
/** What a service can read. */
const creation = { fields, expected };
/** What the client sends. */
const exactCreation = { fields: { ...fields, amount: exactAmount }, expected };

/** Says what {@link exactCreation} says, in a tenth of the time; a test holds the two together. */
function isExactCreation(value: Given): value is CreatePaymentInput {
  const { merchantPaymentReference, amount, currency } = value;
  return (
    typeof merchantPaymentReference === 'string' &&
    merchantPaymentReference.trim() !== '' &&
    merchantPaymentReference.isWellFormed() &&
    typeof amount === 'number' &&
    Math.abs(amount) <= Number.MAX_SAFE_INTEGER &&
    (Number.isInteger(amount) || toMeant(amount) === amount) &&
    typeof currency === 'string' &&
    /^[A-Z]{3}$/.test(currency)
  );
}

type Given = { readonly [Field in keyof CreatePaymentInput]?: unknown };

/** A payment creation to send, each field read once, or what is wrong with it. */
export function readCreation(value: unknown) {
  if (!isObject(value)) return { issues: findIssues(exactCreation, value) ?? [] };
  const { merchantPaymentReference, amount, currency }: Given = value;
  const input: Given = { merchantPaymentReference, amount, currency };
  if (isExactCreation(input)) return { input };
  return { issues: findIssues(exactCreation, input) ?? [] };
}

/** Returns what is wrong with `value` as a payment creation that a service received; `undefined` if it is one. */
export const findCreatePaymentIssues = (value: unknown): readonly Issue[] | undefined =>
  findIssues(creation, value);
