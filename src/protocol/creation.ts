import * as z from 'zod/mini';
import type { Issue } from '../errors.js';
import type { CreatePaymentInput } from './payment.js';
import { fields, type Hints, run, type ShapeOf, toIssue } from './schema.js';

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

const CURRENCY = 'three capital letters such as EUR';
const currency = z.string(CURRENCY).check(
  z.refine((value) => !/^[a-z]{3}$/.test(value), {
    error: CURRENCY,
    abort: true,
    params: { received: () => 'lower-case letters' } satisfies Hints,
  }),
  z.regex(/^[A-Z]{3}$/, CURRENCY),
);

const creation = fields(
  { merchantPaymentReference: reference, amount, currency } satisfies ShapeOf<CreatePaymentInput>,
  'an object with merchantPaymentReference, amount and currency',
);

/** A payment creation, each field read once, or what is wrong with it. */
export function readCreation(
  value: unknown,
):
  | { readonly issues: readonly Issue[]; readonly input: undefined }
  | { readonly issues: undefined; readonly input: CreatePaymentInput } {
  const read = run(creation, value);
  return read.findings === undefined
    ? { issues: undefined, input: read.output }
    : { issues: read.findings.map(toIssue), input: undefined };
}

/** Returns what is wrong with `value` as a payment creation; `undefined` if it can be sent. */
export const findCreatePaymentIssues = (value: unknown): readonly Issue[] | undefined =>
  readCreation(value).issues;
