import { randomUUID } from 'node:crypto';
import { types } from 'node:util';
import { InvalidOptionError } from '../errors.js';
import {
  createSigningKey,
  type SigningSecret,
  signCallbackBytes,
  toBytes,
} from '../mock-server/callbacks/sign.js';
import {
  assertKnownOptions,
  assertOneOf,
  assertOptionsObject,
  assertWholeNumber,
  type OptionNames,
} from '../protocol/assert-option.js';
import { describeValue } from '../protocol/describe-value.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import {
  SIGNATURE_HEADER,
  type SignatureEncoding,
  signatureEncodings,
  TIMESTAMP_HEADER,
} from '../protocol/wire.js';

/** What {@link signCallback} signs, and how. */
export interface SignCallbackInput {
  /**
   * The body. Of a record, fields that are missing are filled with sample values; one that is
   * `undefined` is left out; further ones are kept. Text and bytes are signed as they are, JSON or not.
   */
  payment:
    | { [Field in keyof PaymentStatusRecord]?: PaymentStatusRecord[Field] | undefined }
    | Readonly<Record<string, unknown>>
    | string
    | Uint8Array;
  /** The signing secret, as given to `verifyCallback`: text, bytes or a secret `KeyObject`; not empty. */
  signingSecret: SigningSecret;
  /**
   * X-Timestamp: a whole number from 0, written as it is (the service writes Unix seconds), or a Date,
   * written in whole seconds.
   * @default now
   */
  timestamp?: number | Date | undefined;
  /**
   * The encoding of the digest in X-Signature.
   * @default 'hex'
   */
  signatureEncoding?: SignatureEncoding | undefined;
}

/** A callback as the service would send it (interface section 4.2). */
export interface SignedCallback {
  /** The body to send, exactly these bytes. */
  rawBody: Uint8Array;
  /** `content-type`, `x-timestamp` and `x-signature`; names in lower case. */
  headers: Record<string, string>;
}

const NAMES: OptionNames<SignCallbackInput> = {
  payment: true,
  signingSecret: true,
  timestamp: true,
  signatureEncoding: true,
};

/**
 * Makes a callback with a correct signature, to test a callback handler (interface section 5.2).
 *
 * @throws {InvalidOptionError} when an option can't be right: an empty secret, an invalid date
 *
 * @example
 * ```ts
 * import { signCallback } from 'merchant-payments/testing';
 *
 * const { rawBody, headers } = signCallback({
 *   payment: { merchantPaymentReference: 'order-1', status: 'paid' },
 *   signingSecret: 'test-signing-secret',
 * });
 * await fetch('http://127.0.0.1:3000/callbacks', { method: 'POST', headers, body: rawBody });
 * ```
 */
export function signCallback(input: SignCallbackInput): SignedCallback {
  assertOptionsObject('input', input, 'payment and signingSecret');
  assertKnownOptions(input, NAMES);
  const { payment, signingSecret, timestamp = new Date(), signatureEncoding = 'hex' } = input;
  const key = createSigningKey('signingSecret', signingSecret);
  assertOneOf('signatureEncoding', signatureEncoding, signatureEncodings);
  const seconds = toTimestamp(timestamp);
  const rawBody = writeBody(payment, seconds);
  const signature = signCallbackBytes({
    timestamp: String(seconds),
    body: rawBody,
    key,
    encoding: signatureEncoding,
  });
  return {
    rawBody,
    headers: {
      'content-type': 'application/json',
      [TIMESTAMP_HEADER]: String(seconds),
      [SIGNATURE_HEADER]: signature,
    },
  };
}

function toTimestamp(timestamp: number | Date): number {
  // Not instanceof: test runners have a Date of their own.
  if (!types.isDate(timestamp)) {
    assertWholeNumber('timestamp', timestamp, { min: 0, unit: 'seconds' });
    return timestamp;
  }
  const seconds = Math.floor(timestamp.getTime() / 1000);
  if (seconds >= 0) return seconds;
  throw new InvalidOptionError(
    'timestamp',
    'timestamp must be a valid date from 1970 on, but another one came',
  );
}

function writeBody(payment: unknown, seconds: number): Uint8Array {
  if (typeof payment === 'string') return new TextEncoder().encode(payment);
  if (ArrayBuffer.isView(payment)) return toBytes(payment);
  if (typeof payment === 'object' && payment !== null && !Array.isArray(payment)) {
    const record = { ...createSampleRecord(seconds), ...payment };
    return new TextEncoder().encode(JSON.stringify(record));
  }
  throw new InvalidOptionError(
    'payment',
    `payment must be a record, a string or a Uint8Array, but ${describeValue(payment)} came`,
  );
}

function createSampleRecord(seconds: number): PaymentStatusRecord {
  const date = toDate(seconds).toISOString().replace('Z', '+00:00');
  return {
    referenceNumber: randomUUID(),
    merchantPaymentReference: `order-${randomUUID()}`,
    providerReference: randomUUID(),
    status: 'paid',
    createdAt: date,
    updatedAt: date,
  };
}

/** From here on a number of seconds would lie beyond the year 5138, so it is one of milliseconds. */
const SECONDS_END = 100_000_000_000;
const LATEST_DATE_MS = 8_640_000_000_000_000;

function toDate(timestamp: number): Date {
  return new Date(timestamp < SECONDS_END ? timestamp * 1000 : Math.min(timestamp, LATEST_DATE_MS));
}
