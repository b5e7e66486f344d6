import * as z from 'zod/mini';
import type { Rule } from './options.js';
import { fieldsOf, type Hints, type ShapeOf } from './schema.js';
import { oneOf, parseStrictly, strictFields, text, wholeNumber } from './strict-schema.js';
import { type SignatureEncoding, signatureEncodings, type TimestampUnit } from './wire.js';

/**
 * What a service does where the interface leaves it open, as observed by `merchant-payments discover`. A JSON
 * file without secrets or personal data: it describes the contents of answers and does not quote them.
 */
export interface ServiceProfile {
  /** Version of the format: 1. */
  version: 1;
  /** The answer to a valid creation. */
  creation: ProfiledAnswer;
  /** What sending the same creation again does. Like the fields below, absent if it was not learned. */
  repeatedReference?: ProfiledRepetition | undefined;
  /** The answers to invalid requests. A 2xx means that the service accepts the request. */
  invalid: Partial<Record<InvalidCase, ProfiledAnswer | undefined>>;
  /** What was learned about callbacks. */
  callbacks: ProfiledCallbacks;
  /** The points that were not learned, each with the reason. */
  notLearned: Readonly<Record<string, string>>;
}

/** An answer of the service. */
export interface ProfiledAnswer {
  /** The HTTP status, from 200 to 599. */
  status: number;
  /** Its media type. */
  contentType?: string | undefined;
  /**
   * The body with a placeholder for each value, such as `{referenceNumber}`, `{dateTime}` or `{text}`;
   * absent without a body. A body that is not JSON is `{text}`.
   */
  body?: unknown;
}

/** The effect of sending a creation a second time. */
export interface ProfiledRepetition {
  /** Whether it creates a second payment, returns the first one again, or is refused. */
  effect: 'second-payment' | 'same-payment' | 'refused';
  /** The answer to it. */
  answer: ProfiledAnswer;
}

/** The form of callbacks. */
export interface ProfiledCallbacks {
  /** Encoding of the digest in X-Signature. */
  signatureEncoding?: SignatureEncoding | undefined;
  /** Unit of X-Timestamp. */
  timestampUnit?: TimestampUnit | undefined;
  /** Whether a retry is signed anew, or repeats the timestamp and signature of the first attempt. */
  retrySigning?: 'fresh' | 'original' | undefined;
}

/** A request with invalid credentials, or with one invalid field of a creation. */
export type InvalidCase =
  | 'missingCredentials'
  | 'invalidCredentials'
  | 'missingReference'
  | 'missingAmount'
  | 'missingCurrency'
  | 'invalidAmount'
  | 'negativeAmount'
  | 'invalidCurrency';

type InvalidCreation = Exclude<InvalidCase, 'missingCredentials' | 'invalidCredentials'>;

/** Invalid creations: the fields that each changes in a valid one. */
export const invalidCreations: Readonly<Record<InvalidCreation, object>> = {
  missingReference: { merchantPaymentReference: undefined },
  missingAmount: { amount: undefined },
  missingCurrency: { currency: undefined },
  invalidAmount: { amount: 'not a number' },
  negativeAmount: { amount: -1 },
  invalidCurrency: { currency: 'not a currency' },
};

export const invalidCases: readonly InvalidCase[] = [
  'missingCredentials',
  'invalidCredentials',
  ...(Object.keys(invalidCreations) as InvalidCreation[]),
];

/** The case to which the body of a creation belongs, if any. */
export function invalidCaseOf(body: unknown): InvalidCreation | undefined {
  if (typeof body !== 'object' || body === null) return undefined;
  const { merchantPaymentReference, amount, currency } = body as Record<string, unknown>;
  if (merchantPaymentReference === undefined) return 'missingReference';
  if (amount === undefined) return 'missingAmount';
  if (currency === undefined) return 'missingCurrency';
  if (typeof amount !== 'number') return 'invalidAmount';
  if (amount < 0) return 'negativeAmount';
  return /^[A-Z]{3}$/.test(String(currency)) ? undefined : 'invalidCurrency';
}

const answer = strictFields({
  status: wholeNumber({ min: 200, max: 599 }),
  contentType: z.optional(text),
  body: z.unknown(),
} satisfies ShapeOf<ProfiledAnswer>);

const repetition = strictFields({
  effect: oneOf('second-payment', 'same-payment', 'refused'),
  answer,
} satisfies ShapeOf<ProfiledRepetition>);

const invalid = strictFields(
  Object.fromEntries(invalidCases.map((one) => [one, z.optional(answer)])),
);

const callbacks = strictFields({
  signatureEncoding: z.optional(oneOf(...signatureEncodings)),
  timestampUnit: z.optional(oneOf('seconds', 'milliseconds')),
  retrySigning: z.optional(oneOf('fresh', 'original')),
} satisfies ShapeOf<ProfiledCallbacks>);

const version = z.custom<1>((value) => value === 1, {
  error: '1',
  params: {
    remedy: 'create the profile again with merchant-payments discover',
  } satisfies Hints,
});

const profile = strictFields({
  version,
  creation: answer,
  repeatedReference: z.optional(repetition),
  invalid,
  callbacks,
  notLearned: fieldsOf(text, 'an object of points and reasons'),
} satisfies ShapeOf<ServiceProfile>);

/** A profile, read from its file by `JSON.parse`. */
export const serviceProfile: Rule<ServiceProfile> = (value, owner) =>
  parseStrictly(profile, value, owner);

/** The names of a template's placeholders. */
export type Placeholder =
  | 'referenceNumber'
  | 'providerReference'
  | 'merchantPaymentReference'
  | 'amount'
  | 'currency'
  | 'dateTime'
  | 'uuid'
  | 'url'
  | 'text'
  | 'number';

/** A placeholder as templates write it. */
export const placeholder = (name: Placeholder): string => `{${name}}`;
