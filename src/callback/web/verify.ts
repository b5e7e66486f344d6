import { isMockSigningSecret } from '../../protocol/mock-secrets.js';
import { hasMethod, invalidOption, resolveOptions } from '../../protocol/options.js';
import { fieldOfAny } from '../../protocol/own-fields.js';
import { isUint8Array } from '../body.js';
import {
  assertOwnSecret,
  assertUsableSecret,
  type CallbackRequest,
  importSecrets,
  type NodeSecretKey,
  type SigningSecret,
  type VerifiedCallback,
  type VerifierRules,
  type VerifyCallbackOptions,
  verifierRules,
  verifyRules,
} from '../options.js';
import { assertSchemaAccepts } from '../record.js';
import { type OpenedCallback, openCallback, readRecord, toVerified } from '../verification.js';
import { callbackKey } from './key.js';

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
 * A callback signing secret: text (its UTF-8 bytes are the key), bytes, an HMAC SHA-256
 * `CryptoKey` with the usage `verify`, or a secret `KeyObject` of Node.
 */
export type WebSigningSecret = SigningSecret | WebCryptoKey;

/**
 * Verifies one callback on WebCrypto, for runtimes without `node:crypto` (interface section 5.2). Makes the
 * same checks in the same order as the synchronous `verifyCallback`. Here a `recordSchema` may be
 * asynchronous.
 *
 * @throws {CallbackVerificationError} when the callback must not be trusted; its `code` says why
 * @throws {InvalidOptionError} when an option is invalid
 *
 * @example
 * ```ts
 * import { verifyCallback } from 'merchant-payments/callback/web';
 *
 * export async function POST(request: Request): Promise<Response> {
 *   const rawBody = await request.arrayBuffer();
 *   const { payment } = await verifyCallback(
 *     { rawBody, headers: request.headers },
 *     { signingSecret: process.env.SIGNING_SECRET ?? '' },
 *   );
 *   return new Response(null, { status: payment.status === 'paid' ? 200 : 204 });
 * }
 * ```
 */
export async function verifyCallback<Fields = unknown>(
  request: CallbackRequest,
  options: VerifyCallbackOptions<Fields, WebSigningSecret>,
): Promise<VerifiedCallback<NoInfer<Fields>>> {
  return prepare(options, verifyRules)(request);
}

type CryptoKey = Parameters<typeof crypto.subtle.verify>[1];

const encoder = new TextEncoder();

/**
 * Creates a verifier whose keys are imported once, at its first call.
 *
 * @throws {InvalidOptionError} when an option is invalid: an empty secret, a negative tolerance
 */
export function createCallbackVerifier<Fields = unknown>(
  options: Omit<VerifyCallbackOptions<Fields, WebSigningSecret>, 'receivedAt'>,
): (request: CallbackRequest) => Promise<VerifiedCallback<NoInfer<Fields>>> {
  return prepare(options, verifierRules);
}

function prepare<Fields>(
  options: VerifyCallbackOptions<Fields, WebSigningSecret>,
  rules: VerifierRules,
): (request: CallbackRequest) => Promise<VerifiedCallback<NoInfer<Fields>>> {
  const policy = resolveOptions(options, rules, { holds: 'signingSecret' });
  const secrets = importSecrets(policy.signingSecret as WebSigningSecret, toKeyMaterial);
  const isOfMock = secrets.some(
    (secret) => ArrayBuffer.isView(secret) && isMockSigningSecret(secret),
  );
  let importing: Promise<CryptoKey[]> | undefined;
  return async (request) => {
    assertOwnSecret(isOfMock);
    const given = openCallback(request, policy);
    const signed = joinSignedBytes(given);
    // The copy's part, since the caller could change the body during the waits below. The prefix is ASCII.
    const opened = { ...given, body: signed.subarray(given.timestamp.length + 1) };
    importing ??= Promise.all(secrets.map(importKey));
    const keys = await importing;
    const secretIndex = await findMatchingKey(given.digest, signed, keys);
    const record = readRecord(opened, { secretIndex, secretCount: keys.length });
    // Before the user's schema runs, which gets the record and could change it.
    const key = await callbackKey(record.payment);
    if (policy.recordSchema !== undefined) {
      assertSchemaAccepts(await policy.recordSchema['~standard'].validate(record.payment));
    }
    // The schema has accepted the record as one with these fields.
    return toVerified(record, key) as VerifiedCallback<Fields>;
  };
}

function joinSignedBytes({ timestamp, body }: OpenedCallback): Uint8Array<ArrayBuffer> {
  const bytes = typeof body === 'string' ? encoder.encode(body) : body;
  const prefix = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + bytes.length);
  signed.set(prefix);
  signed.set(bytes, prefix.length);
  return signed;
}

async function findMatchingKey(
  digest: string,
  signed: Uint8Array<ArrayBuffer>,
  keys: readonly CryptoKey[],
): Promise<number> {
  const bytes = Uint8Array.from({ length: 32 }, (_, index) =>
    Number.parseInt(digest.slice(index * 2, index * 2 + 2), 16),
  );
  // subtle.verify compares in constant time.
  for (const [index, key] of keys.entries()) {
    if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return index;
  }
  return -1;
}

function toKeyMaterial(
  secret: WebSigningSecret,
  option: string,
): Uint8Array<ArrayBuffer> | WebCryptoKey {
  if (typeof secret === 'string' || isUint8Array(secret)) {
    assertUsableSecret(secret, option);
    return typeof secret === 'string' ? encoder.encode(secret) : Uint8Array.from(secret);
  }
  if (isNodeSecretKey(secret)) return toKeyMaterial(secret.export() as Uint8Array, option);
  if (isVerifyingKey(secret)) return secret;
  const accepted =
    "a string, a Uint8Array, a secret KeyObject or an HMAC SHA-256 CryptoKey with the usage 'verify'";
  throw invalidOption(option, accepted, secret);
}

function isNodeSecretKey(value: unknown): value is NodeSecretKey {
  return fieldOfAny(value, 'type') === 'secret' && hasMethod(value, 'export');
}

function isVerifyingKey(value: unknown): value is WebCryptoKey {
  const algorithm = fieldOfAny(value, 'algorithm');
  return (
    fieldOfAny(value, 'type') === 'secret' &&
    fieldOfAny(algorithm, 'name') === 'HMAC' &&
    fieldOfAny(fieldOfAny(algorithm, 'hash'), 'name') === 'SHA-256' &&
    (value as WebCryptoKey).usages?.includes('verify') === true
  );
}

async function importKey(secret: Uint8Array<ArrayBuffer> | WebCryptoKey): Promise<CryptoKey> {
  if (!ArrayBuffer.isView(secret)) return secret as CryptoKey;
  const algorithm = { name: 'HMAC', hash: 'SHA-256' };
  return crypto.subtle.importKey('raw', secret, algorithm, false, ['verify']);
}
