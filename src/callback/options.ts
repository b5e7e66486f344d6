import { InvalidOptionError } from '../errors.js';
import {
  clock,
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
  /** The body exactly as received, before any parsing: text or, better, bytes. */
  rawBody: RawBody;
  /** The request's headers, in the shape in which your framework has them. */
  headers: CallbackHeaders;
}

/**
 * Options of a verifier. `Fields` are those of a record that `recordSchema` accepts, inferred from it;
 * `Secret` is what the runtime takes as a signing secret.
 */
export interface VerifyCallbackOptions<Fields = unknown, Secret = SigningSecret> {
  /** The signing secret of the merchant account, or several during a rotation: any of them may match. */
  signingSecret: Secret | readonly Secret[];
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

/** One rule for each option of a verifier. */
export const verifierRules = {
  // Checked where its keys are made: each runtime has other types.
  signingSecret: (value: unknown): unknown => value,
  toleranceSeconds: withDefault(300, wholeNumber({ unit: 'seconds' })),
  signatureEncoding: withDefault('auto', oneOf('auto', ...signatureEncodings)),
  timestampUnit: withDefault('seconds', oneOf('seconds', 'milliseconds')),
  now: clock,
  recordSchema: optional(standardSchema),
} satisfies OptionRules<VerifyCallbackOptions>;

/** How callbacks are verified, but for the secret. */
export type ResolvedPolicy = Omit<Resolved<typeof verifierRules>, 'signingSecret'>;

/** The part of Node's secret `KeyObject` that is used, so that no types of Node are needed. */
export interface NodeSecretKey {
  /** Must be `secret`. */
  readonly type: string;
  /** The key's bytes. */
  export(): unknown;
}

/** A callback signing secret: text (its UTF-8 bytes are the key), bytes, or a secret `KeyObject`. */
export type SigningSecret = string | Uint8Array | NodeSecretKey;

/**
 * Refuses an empty secret, with which anybody can sign, and white space at an edge, which shows only as
 * mismatches later.
 *
 * @throws {InvalidOptionError} naming the option, never the value
 */
export function assertUsableSecret(secret: string | Uint8Array, option: string): void {
  if (typeof secret === 'string') secretText(secret, option);
  else if (secret.byteLength === 0) {
    throw new InvalidOptionError(option, `${option} must not be empty; received no bytes`);
  }
}

/** One secret or several, as a list; `[]` is refused, since it would accept nothing. */
export function listSecrets<Secret>(
  signingSecret: Secret | readonly Secret[],
): readonly { secret: Secret; option: string }[] {
  if (!Array.isArray(signingSecret)) {
    return [{ secret: signingSecret as Secret, option: 'signingSecret' }];
  }
  if (signingSecret.length === 0) {
    throw invalidOption('signingSecret', 'one secret or more', signingSecret);
  }
  // map would leave out a hole, and with it the check.
  return Array.from(signingSecret, (secret: Secret, index) => ({
    secret,
    option: `signingSecret[${index}]`,
  }));
}

/** @throws {InvalidOptionError} when `request` is not an object */
export function assertRequest(request: unknown, holds: string): void {
  if (typeof request === 'object' && request !== null) return;
  throw invalidOption('request', `an object with ${holds}`, request);
}
