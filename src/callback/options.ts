import {
  assertFunction,
  assertOneOf,
  assertOptionsObject,
  assertWholeNumber,
  type OptionNames,
} from '../protocol/assert-option.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import { assertStandardSchema, type StandardSchemaV1 } from '../protocol/standard-schema.js';
import { type SignatureEncoding, signatureEncodings } from '../protocol/wire.js';
import type { RawBody } from './body.js';
import type { CallbackHeaders } from './headers.js';
import type { TimestampUnit } from './timestamp.js';

/** A callback as it was received (interface section 4.2). */
export interface CallbackRequest {
  /** The body exactly as received, before any parsing: text or, better, bytes. */
  rawBody: RawBody;
  /** The request's headers, in the shape in which your framework has them. */
  headers: CallbackHeaders;
}

/**
 * Options that do not depend on the runtime's cryptography. `Fields` is what `recordSchema` takes a
 * record to hold, inferred from it.
 */
export interface VerificationPolicy<Fields = unknown> {
  /**
   * How far X-Timestamp may lie from the clock, in whole seconds, in both directions, inclusive.
   * A whole number from 0; 0 means the same second.
   * @default 300
   */
  toleranceSeconds?: number | undefined;
  /**
   * The encoding of the digest in X-Signature. `auto` accepts hex, base64 and base64url.
   * @default 'auto'
   */
  signatureEncoding?: 'auto' | SignatureEncoding | undefined;
  /**
   * The unit of X-Timestamp.
   * @default 'seconds'
   */
  timestampUnit?: TimestampUnit | undefined;
  /**
   * The clock, in epoch milliseconds.
   * @default Date.now
   */
  now?: (() => number) | undefined;
  /**
   * A further check of the record, after the package's own: any Standard Schema. It can refuse the
   * record (`INVALID_RECORD`), and what it converts is not used: `payment` stays what was signed, and
   * has the fields that the schema takes (its input type). What it throws is passed on as it is.
   */
  recordSchema?: StandardSchemaV1<Fields, unknown> | undefined;
}

/** A callback that is authentic, fresh, and a status record. `Fields` are those of a `recordSchema`. */
export interface VerifiedCallback<Fields = unknown> {
  /** The record, with fields the interface does not show kept. */
  payment: PaymentStatusRecord & Fields;
  /**
   * The same for every delivery of one status change: store it to recognise duplicates. At most 128
   * characters of `[A-Za-z0-9._-]`; `callbackKey` says what it is made of.
   */
  key: string;
  /** X-Timestamp: when this delivery was signed. */
  timestamp: Date;
  /** Which of several signing secrets matched, from 0. */
  secretIndex: number;
}

export interface ResolvedPolicy {
  readonly toleranceSeconds: number;
  readonly signatureEncoding: 'auto' | SignatureEncoding;
  readonly timestampUnit: TimestampUnit;
  readonly now: () => number;
  readonly recordSchema: StandardSchemaV1 | undefined;
}

const POLICY_NAMES: OptionNames<VerificationPolicy> = {
  toleranceSeconds: true,
  signatureEncoding: true,
  timestampUnit: true,
  now: true,
  recordSchema: true,
};

/** The options of a verifier. */
export const VERIFIER_OPTIONS = { signingSecret: true, ...POLICY_NAMES } as const;

// Looked up at each call: fake time may be set, or taken away, later.
const systemClock = (): number => Date.now();

/** @throws {InvalidOptionError} naming the option */
export function resolvePolicy(options: VerificationPolicy): ResolvedPolicy {
  assertOptionsObject('options', options, 'signingSecret');
  const {
    toleranceSeconds = 300,
    signatureEncoding = 'auto',
    timestampUnit = 'seconds',
    now = systemClock,
    recordSchema,
  } = options;
  assertWholeNumber('toleranceSeconds', toleranceSeconds, { min: 0, unit: 'seconds' });
  assertOneOf('signatureEncoding', signatureEncoding, ['auto', ...signatureEncodings]);
  assertOneOf('timestampUnit', timestampUnit, ['seconds', 'milliseconds']);
  assertFunction('now', now, 'that returns epoch milliseconds');
  if (recordSchema !== undefined) assertStandardSchema('recordSchema', recordSchema);
  return Object.freeze({ toleranceSeconds, signatureEncoding, timestampUnit, now, recordSchema });
}
