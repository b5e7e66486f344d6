import type * as Crypto from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { InvalidOptionError } from '../errors.js';
import { date, invalidOption, optional, resolveOptions } from '../protocol/options.js';
import { fieldOf } from '../protocol/own-fields.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import { assertRawBody, isUint8Array } from './body.js';
import { readSignedHeaders } from './headers.js';
import { decideCallbackKey, toDigestKey } from './key.js';
import {
  assertRequest,
  assertUsableSecret,
  type CallbackRequest,
  listSecrets,
  type ResolvedPolicy,
  type SigningSecret,
  type VerifiedCallback,
  type VerifierRules,
  type VerifyCallbackOptions,
  verifierRules,
} from './options.js';
import {
  assertSchemaAccepts,
  decodeBody,
  isPromiseLike,
  parseStatusRecord,
  runRecordSchema,
} from './record.js';
import { parseSignatureFormat, signatureMismatch } from './signature.js';
import { assertInsideWindow, parseTimestamp } from './timestamp.js';

let crypto: typeof Crypto | undefined;

/**
 * Loads node:crypto with the first verifier. An import of it would take half of the time to load this file, also
 * in a process that only creates payments.
 *
 * @throws {InvalidOptionError} in a runtime without it
 */
function loadCrypto(): typeof Crypto {
  crypto ??= globalThis.process?.getBuiltinModule?.('node:crypto');
  if (crypto !== undefined) return crypto;
  throw new InvalidOptionError(
    'signingSecret',
    'signingSecret cannot be used by merchant-payments/callback in this runtime, which lacks node:crypto; import merchant-payments/callback/web',
  );
}

/**
 * Verifies one callback (interface section 5.2): headers, window, signature, and only then the
 * body's JSON and record. For more than one, {@link createCallbackVerifier} prepares the keys once.
 *
 * @throws {CallbackVerificationError} when the callback must not be trusted; its `code` says why
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { verifyCallback } from 'merchant-payments/callback';
 *
 * declare const request: { body: Buffer; headers: Record<string, string> };
 *
 * const { payment, key } = verifyCallback(
 *   { rawBody: request.body, headers: request.headers },
 *   { signingSecret: process.env.SIGNING_SECRET ?? '' },
 * );
 * ```
 */
export function verifyCallback<Fields = unknown>(
  request: CallbackRequest,
  options: VerifyCallbackOptions<Fields>,
): VerifiedCallback<NoInfer<Fields>> {
  return prepare(options, { ...verifierRules, receivedAt: optional(date) })(request);
}

/**
 * Creates a verifier, with its keys prepared. It has no state between calls and can be shared.
 *
 * @throws {InvalidOptionError} when an option is invalid: an empty secret, a negative tolerance
 */
export function createCallbackVerifier<Fields = unknown>(
  options: Omit<VerifyCallbackOptions<Fields>, 'receivedAt'>,
): (request: CallbackRequest) => VerifiedCallback<NoInfer<Fields>> {
  return prepare(options, verifierRules);
}

function prepare<Fields>(
  options: VerifyCallbackOptions<Fields>,
  rules: VerifierRules,
): (request: CallbackRequest) => VerifiedCallback<NoInfer<Fields>> {
  const policy = resolveOptions(options, rules, { holds: 'signingSecret' });
  const keys = importSigningSecrets(policy.signingSecret as SigningSecret);
  // The schema has accepted the record as one with these fields.
  return (request) => verify(request, policy, keys) as VerifiedCallback<Fields>;
}

/**
 * Returns the key of a status change, the same for every delivery of that change, whenever it was signed and
 * however its `updatedAt` is spelled. It has the form `referenceNumber.status.microseconds`, where the last
 * part is the instant of `updatedAt`, counted since 1970. It is `sha256.` and a digest of the three instead
 * if `referenceNumber` or `status` has characters other than letters, digits, hyphens and underscores, if the
 * key would be longer than 128 characters, or if the instant is finer than a microsecond.
 *
 * @throws {CallbackVerificationError} `INVALID_RECORD` when one of the three is missing
 */
export function callbackKey(payment: PaymentStatusRecord): string {
  const form = decideCallbackKey(payment);
  if (form.digestOf === undefined) return form.key;
  return toDigestKey(loadCrypto().hash('sha256', form.digestOf, 'base64url'));
}

function verify(
  request: CallbackRequest,
  policy: ResolvedPolicy,
  keys: readonly KeyObject[],
): VerifiedCallback {
  assertRequest(request, 'rawBody and headers');
  const body = assertRawBody(fieldOf(request, 'rawBody'));
  const headers = fieldOf(request, 'headers') as CallbackRequest['headers'];
  const { timestamp, signature } = readSignedHeaders(headers);

  const sentAtMs = parseTimestamp(timestamp, policy.timestampUnit);
  assertInsideWindow(sentAtMs, policy);

  const secretIndex = findSecret({ body, timestamp, signature }, policy.signatureEncoding, keys);
  if (secretIndex === -1) throw signatureMismatch(keys.length, headers);

  const payment = parseStatusRecord(typeof body === 'string' ? body : decodeBody(body, headers));
  // Before the user's schema runs, which gets the record and could change it.
  const key = callbackKey(payment);
  if (policy.recordSchema !== undefined) {
    const result = runRecordSchema(policy.recordSchema, payment);
    if (isPromiseLike(result)) {
      // An unhandled rejection would end the process.
      result.then(undefined, () => undefined);
      throw new InvalidOptionError(
        'recordSchema',
        'recordSchema must validate synchronously, but returned a promise; use verifyCallback of merchant-payments/callback/web, which awaits it',
      );
    }
    assertSchemaAccepts(result);
  }
  return {
    payment,
    key,
    timestamp: new Date(sentAtMs),
    secretIndex,
    rawBody: typeof body === 'string' ? new Uint8Array(Buffer.from(body)) : body,
  };
}

interface SignedCallback {
  readonly body: string | Uint8Array;
  readonly timestamp: string;
  readonly signature: string;
}

// Nearly every signature is lower-case hex and matches. Its format is checked only if it does not match.
function findSecret(
  signed: SignedCallback,
  allowed: ResolvedPolicy['signatureEncoding'],
  keys: readonly KeyObject[],
): number {
  const { signature } = signed;
  if (signature.length === 64 && (allowed === 'auto' || allowed === 'hex')) {
    const secretIndex = findMatchingKey(signed, keys);
    if (secretIndex !== -1) return secretIndex;
  }
  const normalized = normalizeSignature(signature, allowed);
  return normalized === signature
    ? -1
    : findMatchingKey({ ...signed, signature: normalized }, keys);
}

// Reused by every verification, since allocating two buffers takes longer than comparing them.
const received = Buffer.alloc(64);
const computed = Buffer.alloc(64);

function findMatchingKey(
  { body, timestamp, signature }: SignedCallback,
  keys: readonly KeyObject[],
): number {
  const { createHmac, timingSafeEqual } = loadCrypto();
  received.write(signature, 0, 64, 'latin1');
  const prefix = `${timestamp}.`;
  for (let index = 0; index < keys.length; index += 1) {
    // Two updates avoid a copy of the body; digest() as text is faster than as a buffer.
    const hmac = createHmac('sha256', keys[index] as KeyObject);
    const digest = hmac.update(prefix).update(body).digest('hex');
    computed.write(digest, 0, 64, 'latin1');
    // Only the low byte of a character beyond Latin-1 is written, so equal bytes may come from different
    // texts.
    if (timingSafeEqual(received, computed) && digest === signature) return index;
  }
  return -1;
}

/** Returns any accepted encoding of the digest as lower-case hex, in which digests are compared. */
function normalizeSignature(text: string, allowed: ResolvedPolicy['signatureEncoding']): string {
  return parseSignatureFormat(text, allowed) === 'hex'
    ? text.toLowerCase()
    : Buffer.from(text, 'base64').toString('hex');
}

function importSigningSecrets(
  signingSecret: VerifyCallbackOptions['signingSecret'],
): readonly KeyObject[] {
  return listSecrets(signingSecret).map(({ secret, option }) => importSecret(secret, option));
}

function importSecret(secret: SigningSecret, option: string): KeyObject {
  const { createSecretKey, KeyObject } = loadCrypto();
  if (secret instanceof KeyObject) {
    if (secret.type === 'secret' && secret.symmetricKeySize !== 0) {
      assertUsableSecret(secret.export(), option);
      return secret;
    }
    throw new InvalidOptionError(
      option,
      `${option} must be a KeyObject of type secret that is not empty; received one of type ${secret.type}`,
    );
  }
  if (typeof secret === 'string') {
    assertUsableSecret(secret, option);
    return createSecretKey(secret, 'utf8');
  }
  if (isUint8Array(secret)) {
    assertUsableSecret(secret, option);
    return createSecretKey(secret);
  }
  throw invalidOption(option, 'a string, a Uint8Array or a KeyObject', secret);
}
