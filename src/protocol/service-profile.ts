import {
  invalidOption,
  listOf,
  type OptionRules,
  oneOf,
  optional,
  type Rule,
  resolveOptions,
  text,
  wholeNumber,
} from './options.js';
import { type SignatureEncoding, signatureEncodings, type TimestampUnit } from './wire.js';

/**
 * What a service does where the interface leaves it open, as `merchant-payments discover` has seen it.
 * A file of JSON, without secrets and personal data: what an answer holds is described, not quoted.
 */
export interface ServiceProfile {
  /** Version of the format: 1. */
  version: 1;
  /** The answer to a valid creation. */
  creation: ProfiledAnswer;
  /** What the same creation does when it is sent again. Absent where it was not learned, as below. */
  repeatedReference?: ProfiledRepetition | undefined;
  /** The answers to requests that are invalid. One of 2xx says that the service accepts the request. */
  invalid: Partial<Record<InvalidCase, ProfiledAnswer | undefined>>;
  /** What is known of callbacks. */
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

/** What a creation does that is sent a second time. */
export interface ProfiledRepetition {
  /** Whether it makes a second payment, answers the first one again, or is refused. */
  effect: 'second-payment' | 'same-payment' | 'refused';
  /** The answer to it. */
  answer: ProfiledAnswer;
}

/** What callbacks are like. */
export interface ProfiledCallbacks {
  /** Encoding of the digest in X-Signature. */
  signatureEncoding?: SignatureEncoding | undefined;
  /** Unit of X-Timestamp. */
  timestampUnit?: TimestampUnit | undefined;
  /** Whether a retry is signed anew, or repeats the timestamp and signature of the first attempt. */
  retrySigning?: 'fresh' | 'original' | undefined;
}

/** A request that is invalid by its credentials, or by one field of a creation. */
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

/** Creations that are invalid: what each has in place of the fields of a valid one. */
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

/** The case that the body of a creation is one of. */
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

const answerRules = {
  status: wholeNumber({ min: 200, max: 599 }),
  contentType: optional(text),
  body: (value: unknown) => value,
} satisfies OptionRules<ProfiledAnswer>;

const answer: Rule<ProfiledAnswer> = (value, owner) =>
  resolveOptions(value, answerRules, { owner });

const repetitionRules = {
  effect: oneOf('second-payment', 'same-payment', 'refused'),
  answer,
} satisfies OptionRules<ProfiledRepetition>;

const callbackRules = {
  signatureEncoding: optional(oneOf(...signatureEncodings)),
  timestampUnit: optional(oneOf('seconds', 'milliseconds')),
  retrySigning: optional(oneOf('fresh', 'original')),
} satisfies OptionRules<ProfiledCallbacks>;

const version: Rule<1> = (value, option) => {
  if (value === 1) return value;
  throw invalidOption(option, '1', value, 'make the profile anew with merchant-payments discover');
};

const reasons: Rule<Readonly<Record<string, string>>> = (value, option) => {
  if (typeof value !== 'object' || value === null) {
    throw invalidOption(option, 'an object of points and reasons', value);
  }
  listOf(text, 'reasons')(Object.values(value), option);
  return value as Readonly<Record<string, string>>;
};

const profileRules = {
  version,
  creation: answer,
  repeatedReference: optional((value, owner) => resolveOptions(value, repetitionRules, { owner })),
  invalid: (value, owner) =>
    resolveOptions(value, Object.fromEntries(invalidCases.map((one) => [one, optional(answer)])), {
      owner,
    }),
  callbacks: (value, owner) => resolveOptions(value, callbackRules, { owner }),
  notLearned: reasons,
} satisfies OptionRules<ServiceProfile>;

/** A profile, read from its file by `JSON.parse`. */
export const serviceProfile: Rule<ServiceProfile> = (value, owner) =>
  resolveOptions(value, profileRules, { owner }) as ServiceProfile;

/** Names of what a template holds in place of a value. */
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

/** How a template writes one. */
export const placeholder = (name: Placeholder): string => `{${name}}`;
