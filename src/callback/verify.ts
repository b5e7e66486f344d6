import type * as Crypto from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { InvalidOptionError } from '../errors.js';
import { isMockSigningSecret } from '../protocol/mock-secrets.js';
import { invalidOption, resolveOptions } from '../protocol/options.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import type { StandardSchemaV1 } from '../protocol/standard-schema.js';
import { isUint8Array } from './body.js';
import { decideCallbackKey, toDigestKey } from './key.js';
import {
  assertOwnSecret,
  assertUsableSecret,
  type CallbackRequest,
  importSecrets,
  type SigningSecret,
  type VerifiedCallback,
  type VerifierRules,
  type VerifyCallbackOptions,
  verifierRules,
  verifyRules,
} from './options.js';
import { assertSchemaAccepts, isPromiseLike } from './record.js';
import { type OpenedCallback, openCallback, readRecord, toVerified } from './verification.js';

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
 * Verifies one callback (interface section 5.2): headers, tolerance, signature, and only then the
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
  return prepare(options, verifyRules)(request);
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
  const keys = importSecrets(policy.signingSecret as SigningSecret, importSecret);
  const isOfMock = keys.some((key) => isMockSigningSecret(key.export()));
  return (request) => {
    assertOwnSecret(isOfMock);
    const opened = openCallback(request, policy);
    const secretIndex = findMatchingKey(opened, keys);
    const record = readRecord(opened, { secretIndex, secretCount: keys.length });
    // Before the user's schema runs, which gets the record and could change it.
    const key = callbackKey(record.payment);
    if (policy.recordSchema !== undefined) assertFits(record.payment, policy.recordSchema);
    // The schema has accepted the record as one with these fields.
    return toVerified(record, key) as VerifiedCallback<Fields>;
  };
}

/**
 * Returns the key of a status change, the same for every delivery of that change, whenever it was signed and
 * however its `updatedAt` is spelled. It has the form `referenceNumber.status.microseconds`, where the last
 * part is the instant of `updatedAt`, counted since 1970. Otherwise it is `sha256.` and a digest of the three. That
 * is so if `referenceNumber` or `status` has characters other than letters, digits, hyphens and underscores, if the
 * key would be longer than 128 characters, or if the instant is finer than a microsecond.
 *
 * @throws {CallbackVerificationError} `INVALID_RECORD` when one of the three is missing
 */
export function callbackKey(payment: PaymentStatusRecord): string {
  const form = decideCallbackKey(payment);
  if (form.digestOf === undefined) return form.key;
  return toDigestKey(loadCrypto().hash('sha256', form.digestOf, 'base64url'));
}

function findMatchingKey(
  { body, timestamp, digest }: OpenedCallback,
  keys: readonly KeyObject[],
): number {
  const { createHmac, timingSafeEqual } = loadCrypto();
  const received = Buffer.from(digest);
  return keys.findIndex((key) => {
    // Two updates avoid a copy of the body; digest() as text is faster than as a buffer.
    const computed = createHmac('sha256', key).update(`${timestamp}.`).update(body).digest('hex');
    return timingSafeEqual(received, Buffer.from(computed));
  });
}

function assertFits(payment: PaymentStatusRecord, recordSchema: StandardSchemaV1): void {
  const result = recordSchema['~standard'].validate(payment);
  if (!isPromiseLike(result)) {
    assertSchemaAccepts(result);
    return;
  }
  // An unhandled rejection would end the process.
  result.then(undefined, () => undefined);
  throw new InvalidOptionError(
    'recordSchema',
    'recordSchema must validate synchronously, but returned a promise; use verifyCallback of merchant-payments/callback/web, which awaits it',
  );
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
  if (typeof secret === 'string' || isUint8Array(secret)) {
    assertUsableSecret(secret, option);
    return createSecretKey(Buffer.from(secret));
  }
  throw invalidOption(option, 'a string, a Uint8Array or a KeyObject', secret);
}
