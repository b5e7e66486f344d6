import { randomUUID } from 'node:crypto';
import { types } from 'node:util';
import type { SigningSecret } from '../callback/options.js';
import { InvalidOptionError } from '../errors.js';
import { createSigningKey, signedHeaders, toBytes } from '../mock-server/callbacks/sign.js';
import { LATEST_DATE_MS, SECONDS_END } from '../protocol/instant.js';
import { jsonText } from '../protocol/json.js';
import {
  invalidOption,
  type OptionRules,
  oneOf,
  resolveOptions,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import type { SignatureEncoding } from '../protocol/wire.js';

/** What {@link signCallback} signs, and how. */
export interface SignCallbackInput {
  /**
   * The body. Fields that a record lacks get sample values; `undefined` fields are left out; additional
   * fields are kept, and a value that JSON can't carry is refused. Text and bytes are signed unchanged, JSON or not.
   */
  payment:
    | { [Field in keyof PaymentStatusRecord]?: PaymentStatusRecord[Field] | undefined }
    | Readonly<Record<string, unknown>>
    | string
    | Uint8Array;
  /** The signing secret, as given to `verifyCallback`: text, bytes or a secret `KeyObject`; not empty. */
  signingSecret: SigningSecret;
  /**
   * X-Timestamp: a whole number from 0, sent unchanged (the service sends Unix seconds), or a Date, sent in
   * whole seconds.
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
  rawBody: ReturnType<Uint8Array['slice']>;
  /** `content-type`, `x-timestamp` and `x-signature`; names in lower case. */
  headers: Record<string, string>;
}

const rules = {
  payment: (value: unknown, option: string): object | string => {
    if (typeof value === 'string') return value;
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
    throw invalidOption(option, 'a record, a string or a Uint8Array', value);
  },
  signingSecret: (value: unknown, option: string) => createSigningKey(option, value),
  timestamp: (value: unknown = new Date(), option: string): number => {
    // Not instanceof: test runners have a second Date class.
    if (!types.isDate(value)) return wholeNumber({ unit: 'seconds' })(value, option);
    const seconds = Math.floor(value.getTime() / 1000);
    if (seconds >= 0) return seconds;
    throw new InvalidOptionError(option, `${option} must be a valid date from 1970 on`);
  },
  signatureEncoding: withDefault('hex', oneOf('hex', 'base64', 'base64url')),
} satisfies OptionRules<SignCallbackInput>;

/**
 * Creates a correctly signed callback, to test a callback handler (interface section 5.2).
 *
 * @throws {InvalidOptionError} when an option is invalid: an empty secret, an invalid date
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
  const {
    payment,
    signingSecret: key,
    timestamp: seconds,
    signatureEncoding: encoding,
  } = resolveOptions(input, rules, { holds: 'payment and signingSecret' });
  const rawBody = writeBody(payment, seconds);
  const timestamp = String(seconds);
  return { rawBody, headers: signedHeaders({ timestamp, body: rawBody, key, encoding }) };
}

function writeBody(payment: object | string, seconds: number): SignedCallback['rawBody'] {
  if (typeof payment === 'string') return new TextEncoder().encode(payment);
  if (ArrayBuffer.isView(payment)) return toBytes(payment);
  const record = { ...createSampleRecord(seconds), ...payment };
  return new TextEncoder().encode(jsonText(record, 'payment'));
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

function toDate(timestamp: number): Date {
  return new Date(timestamp < SECONDS_END ? timestamp * 1000 : Math.min(timestamp, LATEST_DATE_MS));
}
