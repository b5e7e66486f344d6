import type * as Crypto from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { InvalidOptionError } from '../errors.js';
import { assertOwnSecret, isMockSigningSecret } from '../protocol/mock-secrets.js';
import { invalidOption, resolveOptions } from '../protocol/options.js';
import type { PaymentStatusRecord } from '../protocol/payment.js';
import type { StandardSchemaV1 } from '../protocol/standard-schema.js';
import { isPromiseLike } from '../protocol/waiting.js';
import { copyOf } from './body.js';
import {
  assertSchemaAccepts,
  openRequest,
  readSigned,
  type SigningHeaders,
  type Verification,
} from './checks.js';
import { type CallbackKeyForm, decideKey, decideKeyOfAny } from './key.js';
import {
  bytesOfSecret,
  type CallbackRequest,
  type CallbackVerifierOptions,
  importSecrets,
  type SigningSecret,
  type VerifiedCallback,
  type VerifierRules,
  type VerifyCallbackOptions,
  verifierRules,
  verifyRules,
} from './options.js';

let crypto: typeof Crypto | undefined;

/**
 * Loads node:crypto with the first verifier. An import of it would take half of the time to load this file, also
 * in a process that only creates payments, and would fail in a runtime without it.
 */
function loadCrypto(): typeof Crypto {
  crypto ??= globalThis.process?.getBuiltinModule?.('node:crypto');
  if (crypto !== undefined) return crypto;
  throw new InvalidOptionError(
    'signingSecret',
    'signingSecret cannot be used by verifyCallback in this runtime, which lacks node:crypto; use verifyCallbackAsync or createAsyncCallbackVerifier',
  );
}

/**
 * Verifies one callback (interface section 5.2): headers, tolerance, signature, and only then the
 * body's JSON and record. For more than one, {@link createCallbackVerifier} prepares the keys once.
 *
 * @throws {CallbackVerificationError} when the callback must not be trusted; its `code` says why
 * @throws {InvalidOptionError} when an option is invalid, or the runtime lacks `node:crypto`
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
  options: CallbackVerifierOptions<Fields>,
): (request: CallbackRequest) => VerifiedCallback<NoInfer<Fields>> {
  return prepare(options, verifierRules);
}

function prepare<Fields>(
  options: VerifyCallbackOptions<Fields>,
  rules: VerifierRules,
): (request: CallbackRequest) => VerifiedCallback<Fields> {
  const policy = resolveOptions(options, rules, { holds: 'signingSecret' });
  const verify = prepareSecrets(policy.signingSecret as SigningSecret);
  return (request) => {
    const { body, signing } = openRequest(request, policy);
    const { callback } = verify(signing, body);
    if (policy.recordSchema !== undefined) assertFits(callback.payment, policy.recordSchema);
    // The schema has accepted the record as one with these fields.
    return callback as VerifiedCallback<Fields>;
  };
}

/**
 * Returns the key of a status change, the same for every delivery of that change, whenever it was signed and
 * however its `updatedAt` is spelled. It has the form `referenceNumber.status.microseconds`, where the last
 * part is the instant of `updatedAt`, counted since 1970. Otherwise it is `sha256.` and a digest of the three. That
 * is so if `referenceNumber` or `status` has characters other than letters, digits, hyphens and underscores, if the
 * key would be longer than 128 characters, or if the instant is finer than a microsecond. In a runtime without
 * `node:crypto`, take the `key` that `verifyCallbackAsync` returns.
 *
 * @throws {CallbackVerificationError} `INVALID_RECORD` when one of the three is missing
 */
export function callbackKey(payment: PaymentStatusRecord): string {
  return toKeyText(decideKeyOfAny(payment));
}

function toKeyText(form: CallbackKeyForm): string {
  if (typeof form === 'string') return form;
  return `sha256.${loadCrypto().hash('sha256', form.digestOf, 'base64url')}`;
}

/** Imports the secrets. What it returns checks a body whose headers were checked. */
export function prepareSecrets(
  signingSecret: SigningSecret | readonly SigningSecret[],
): (signing: SigningHeaders, body: string | Uint8Array) => Verification {
  const keys = importSecrets(signingSecret, toKey);
  const isOfMock = keys.some((key) => isMockSigningSecret(key.export()));
  return (signing, body) => {
    assertOwnSecret(isOfMock);
    const secretIndex = findKey(keys, signing, body);
    const { text, payment } = readSigned(body, signing, { secretIndex, of: keys.length });
    const key = toKeyText(decideKey(payment));
    const timestamp = new Date(signing.sentAtMs);
    return { text, callback: { payment, key, timestamp, secretIndex, rawBody: copyOf(body) } };
  };
}

// Both digests in hex. In memory that is used again, which saves a tenth: nothing else runs meanwhile.
let received: Buffer | undefined;
let computed: Buffer | undefined;

/** The index of the key that made the signature; -1 for none. */
function findKey(
  keys: readonly KeyObject[],
  { timestamp, digest }: SigningHeaders,
  body: string | Uint8Array,
): number {
  const { createHmac, timingSafeEqual } = loadCrypto();
  received ??= Buffer.alloc(64);
  computed ??= Buffer.alloc(64);
  received.write(digest, 'latin1');
  for (let index = 0; index < keys.length; index += 1) {
    // Two updates avoid a copy of the body; digest() as text is faster than as a buffer.
    const hmac = createHmac('sha256', keys[index] as KeyObject).update(`${timestamp}.`);
    computed.write(hmac.update(body).digest('hex'), 'latin1');
    if (timingSafeEqual(received, computed)) return index;
  }
  return -1;
}

function toKey(secret: SigningSecret, option: string): KeyObject {
  const bytes = bytesOfSecret(secret, option);
  if (bytes !== undefined) return loadCrypto().createSecretKey(bytes);
  throw invalidOption(option, 'a string, a Uint8Array or a secret KeyObject', secret);
}

function assertFits(payment: PaymentStatusRecord, recordSchema: StandardSchemaV1): void {
  const result = recordSchema['~standard'].validate(payment);
  if (isPromiseLike(result)) {
    // An unhandled rejection would end the process.
    result.then(undefined, () => undefined);
    const message =
      'recordSchema must validate synchronously, but returned a promise; use verifyCallbackAsync, which awaits it';
    throw new InvalidOptionError('recordSchema', message);
  }
  assertSchemaAccepts(result);
}
