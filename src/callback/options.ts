import { InvalidOptionError } from '../errors.js';
import {
  clock,
  date,
  invalidOption,
  type OptionRules,
  oneOf,
  optional,
  type Resolved,
  secretText,
  standardSchema,
  wholeNumber,
  withDefault,
} from '../protocol/options.js';
import { entriesOf } from '../protocol/own-fields.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import type { StandardSchemaV1 } from '../protocol/standard-schema.js';
import {
  type SignatureEncoding,
  signatureEncodings,
  type TimestampUnit,
} from '../protocol/wire.js';
import type { RawBody } from './body.js';
import type { CallbackHeaders } from './headers.js';

/** A callback as it was received (interface section 4.2). */
export interface CallbackRequest {
  /** The body exactly as received, before any parsing: bytes (preferred) or text. */
  rawBody: RawBody;
  /** The request's headers, as your framework provides them. */
  headers: CallbackHeaders;
}

/**
 * Options of a verifier. `Fields`, inferred from `recordSchema`, are the fields of a record that it accepts;
 * `Secret` is the runtime's type of signing secret.
 */
export interface VerifyCallbackOptions<Fields = unknown, Secret = SigningSecret> {
  /** The merchant account's signing secret, or several during a rotation: any of them may match. */
  signingSecret: Secret | readonly Secret[];
  /**
   * How far X-Timestamp may be from the clock, in seconds, in either direction, inclusive. A whole number
   * from 0; 0 means the same second.
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
   * When another system received the callback and answered 200, such as a gateway that puts callbacks into a
   * queue: X-Timestamp is compared with this time in place of the clock. Take it from that system, never from
   * the request, whose sender could choose it. Only `verifyCallback` takes it, since it belongs to one callback.
   */
  receivedAt?: Date | undefined;
  /**
   * A further check of the record, by any Standard Schema, after the package's own. It can refuse the record
   * (`INVALID_RECORD`). Its conversions are not used: `payment` stays as it was signed, and has the fields of
   * the schema's input type. What it throws is passed on unchanged.
   */
  recordSchema?: StandardSchemaV1<Fields, unknown> | undefined;
}

/**
 * A callback that is authentic, within the tolerance, and a status record. `Fields` are those of
 * `recordSchema`.
 */
export interface VerifiedCallback<Fields = unknown> {
  /** The record, including fields that the interface does not show. */
  payment: PaymentStatusRecord & Fields;
  /**
   * The same for every delivery of one status change: store it to recognise duplicates. At most 128
   * characters of `[A-Za-z0-9._-]`; `callbackKey` says how it is made.
   */
  key: string;
  /** X-Timestamp: when this delivery was signed. */
  timestamp: Date;
  /** The index of the signing secret that matched, from 0. */
  secretIndex: number;
  /** The bytes that were verified: a copy. A `Uint8Array`, of memory that fetch, Blob and WebCrypto take. */
  rawBody: ReturnType<Uint8Array['slice']>;
}

/** One rule for each option of a verifier. */
export const verifierRules = {
  // Checked where keys are created from it, since its type depends on the runtime.
  signingSecret: (value: unknown): unknown => value,
  toleranceSeconds: withDefault(300, wholeNumber({ unit: 'seconds' })),
  signatureEncoding: withDefault('auto', oneOf('auto', ...signatureEncodings)),
  timestampUnit: withDefault('seconds', oneOf('seconds', 'milliseconds')),
  now: clock,
  receivedAt: (value: unknown, option: string): Date | undefined => {
    if (value === undefined) return undefined;
    const message = `${option} belongs to one callback; pass it to verifyCallback`;
    throw new InvalidOptionError(option, message);
  },
  recordSchema: optional(standardSchema),
} satisfies OptionRules<VerifyCallbackOptions>;

/** The rules of `verifyCallback`, which allows `receivedAt`. */
export const verifyRules: VerifierRules = { ...verifierRules, receivedAt: optional(date) };

export type VerifierRules = typeof verifierRules;

/** How callbacks are verified, except for the secret. */
export type ResolvedPolicy = Omit<Resolved<typeof verifierRules>, 'signingSecret'>;

/** The part of Node's secret `KeyObject` that is used, declared here so that Node's types are not needed. */
export interface NodeSecretKey {
  /** Must be `secret`. */
  readonly type: string;
  /** The key's bytes. */
  export(): unknown;
}

/** A callback signing secret: text (its UTF-8 bytes are the key), bytes, or a secret `KeyObject`. */
export type SigningSecret = string | Uint8Array | NodeSecretKey;

/**
 * Refuses an empty secret, a placeholder and zero bytes, with which anyone could sign, and white space at an
 * edge, which would show only as mismatches later.
 *
 * @throws {InvalidOptionError} naming the option, never the value
 */
export function assertUsableSecret(secret: string | Uint8Array, option: string): void {
  if (typeof secret === 'string') secretText(secret, option);
  else if (secret.byteLength === 0) {
    throw new InvalidOptionError(option, `${option} must not be empty; received no bytes`);
  } else if (secret.every((byte) => byte === 0)) {
    throw new InvalidOptionError(
      option,
      `${option} must not be all zeros; received ${secret.byteLength} zero bytes: check that it was read`,
    );
  }
}

/**
 * Refuses the signing secret that every copy of the mock has where customers pay. Called for each callback: a build
 * that loads the application's modules also runs with NODE_ENV=production.
 *
 * @param isOfMock whether one of the secrets is that one
 * @throws {InvalidOptionError} in production
 */
export function assertOwnSecret(isOfMock: boolean): void {
  if (!isOfMock || !isProduction()) return;
  throw new InvalidOptionError(
    'signingSecret',
    "signingSecret must be your own where NODE_ENV is production; received the mock's, with which anyone could sign: set MERCHANT_PAYMENTS_SIGNING_SECRET",
  );
}

function isProduction(): boolean {
  try {
    return globalThis.process?.env?.['NODE_ENV'] === 'production';
  } catch {
    // A runtime that does not allow the variable to be read.
    return false;
  }
}

/** Imports one or several secrets. Refuses `[]`, with which no callback would be accepted. */
export function importSecrets<Secret, Key>(
  signingSecret: Secret | readonly Secret[],
  importSecret: (secret: Secret, option: string) => Key,
): readonly Key[] {
  if (!Array.isArray(signingSecret))
    return [importSecret(signingSecret as Secret, 'signingSecret')];
  if (signingSecret.length === 0) {
    throw invalidOption('signingSecret', 'one secret or more', signingSecret);
  }
  return entriesOf(signingSecret).map((secret, index) =>
    importSecret(secret as Secret, `signingSecret[${index}]`),
  );
}

/** @throws {InvalidOptionError} when `request` is not an object */
export function assertRequest(request: unknown, holds: string): void {
  if (typeof request === 'object' && request !== null) return;
  throw invalidOption('request', `an object with ${holds}`, request);
}
