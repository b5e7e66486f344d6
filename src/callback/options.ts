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
import type { PaymentStatusRecord } from '../protocol/payment.js';
import type { StandardSchemaV1 } from '../protocol/standard-schema.js';
import {
  type SignatureEncoding,
  signatureEncodings,
  type TimestampUnit,
} from '../protocol/wire.js';
import { type Bytes, copyOf, isUint8Array, type RawBody } from './body.js';
import type { CallbackHeaders } from './headers.js';

/** A callback as it was received (interface section 4.2). */
export interface CallbackRequest {
  /** The body exactly as received, before any parsing: bytes (preferred) or text. */
  rawBody: RawBody;
  /** The request's headers, as your framework provides them. */
  headers: CallbackHeaders;
}

/**
 * Options of a verifier. `Fields`, inferred from `recordSchema`, are the fields of a record that it accepts.
 */
export interface VerifyCallbackOptions<Fields = unknown> {
  /** The merchant account's signing secret, or several during a rotation: any of them may match. */
  signingSecret: SigningSecret | readonly SigningSecret[];
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
   * the request, whose sender could choose it. Only `verifyCallback` and `verifyCallbackAsync` take it, since it belongs
   * to one callback.
   */
  receivedAt?: Date | undefined;
  /**
   * A further check of the record, by any Standard Schema, after the package's own. It can refuse the record
   * (`INVALID_RECORD`). Its conversions are not used: `payment` stays as it was signed, and has the fields of
   * the schema's input type. What it throws is passed on unchanged.
   */
  recordSchema?: StandardSchemaV1<Fields, unknown> | undefined;
}

/** Options of a verifier of many callbacks. */
export interface CallbackVerifierOptions<Fields = unknown>
  extends Omit<VerifyCallbackOptions<Fields>, 'receivedAt'> {}

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
  /** The bytes that were verified: a copy, since frameworks reuse their buffers. fetch, Blob and WebCrypto take it. */
  rawBody: Bytes;
}

/** The part of Node's secret `KeyObject` that is used, declared here so that Node's types are not needed. */
export interface NodeSecretKey {
  /** Must be `secret`. */
  readonly type: string;
  /** The key's bytes. */
  export(): unknown;
}

/** The part of a WebCrypto `CryptoKey` that is used, declared here so that no DOM types are needed. */
export interface WebCryptoKey {
  /** Must be `secret`. */
  readonly type: string;
  /** What the key is for. */
  readonly algorithm: {
    /** Must be `HMAC`. */
    readonly name: string;
    /** The HMAC's digest. */
    readonly hash?: {
      /** Must be `SHA-256`. */
      readonly name: string;
    };
  };
  /** Must contain `verify`. */
  readonly usages: readonly string[];
}

/**
 * A callback signing secret: text (its UTF-8 bytes are the key), bytes, or a secret `KeyObject`. On WebCrypto, as by
 * `verifyCallbackAsync` and the handler of `merchant-payments/fetch`, also an HMAC SHA-256 `CryptoKey` with the usage
 * `verify`.
 */
export type SigningSecret = string | Uint8Array | NodeSecretKey | WebCryptoKey;

/** One rule for each option of a verifier. */
export const verifierRules = {
  // Checked where keys are made of it, since its type depends on the verifier.
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

export type VerifierRules = typeof verifierRules;

/** The rules for one callback, which allow `receivedAt`. */
export const verifyRules: VerifierRules = { ...verifierRules, receivedAt: optional(date) };

/** With what the headers of a callback are compared. */
export type ResolvedPolicy = Omit<
  Resolved<VerifierRules>,
  'signingSecret' | 'recordSchema' | 'receivedAt'
> & { readonly receivedAt?: Date | undefined };

/** Makes a key of each secret. Refuses `[]`, with which no callback would be accepted. */
export function importSecrets<Key>(
  signingSecret: SigningSecret | readonly SigningSecret[],
  toKey: (secret: SigningSecret, option: string) => Key,
): readonly Key[] {
  if (!Array.isArray(signingSecret))
    return [toKey(signingSecret as SigningSecret, 'signingSecret')];
  if (signingSecret.length === 0) {
    throw invalidOption('signingSecret', 'one secret or more', signingSecret);
  }
  return signingSecret.map((secret, index) => toKey(secret, `signingSecret[${index}]`));
}

/**
 * The bytes of a secret that is text, bytes or a KeyObject; undefined for anything else. Refuses an empty secret, a
 * placeholder and zero bytes, with which anyone could sign, and white space at an edge, which would show only as
 * mismatches later. The error names the option, never the value.
 */
export function bytesOfSecret(secret: unknown, option: string): Bytes | undefined {
  if (typeof secret === 'string') return copyOf(secretText(secret, option));
  const { type, export: exportKey } = (secret ?? {}) as Partial<NodeSecretKey>;
  const isKey = type === 'secret' && typeof exportKey === 'function';
  const bytes = isKey ? exportKey.call(secret) : secret;
  if (!isUint8Array(bytes)) return undefined;
  if (bytes.some((byte) => byte !== 0)) return copyOf(bytes);
  throw new InvalidOptionError(
    option,
    bytes.length === 0
      ? `${option} must not be empty; received no bytes`
      : `${option} must not be all zeros; received ${bytes.length} zero bytes: check that it was read`,
  );
}
