import {
  date,
  hasMethod,
  invalidOption,
  optional,
  resolveOptions,
} from '../../protocol/options.js';
import { fieldOf, fieldOfAny } from '../../protocol/own-fields.js';
import { assertRawBody, isUint8Array } from '../body.js';
import { readSignedHeaders } from '../headers.js';
import {
  assertRequest,
  assertUsableSecret,
  type CallbackRequest,
  listSecrets,
  type NodeSecretKey,
  type ResolvedPolicy,
  type SigningSecret,
  type VerifiedCallback,
  type VerifierRules,
  type VerifyCallbackOptions,
  verifierRules,
} from '../options.js';
import { assertSchemaAccepts, decodeBody, parseStatusRecord, runRecordSchema } from '../record.js';
import { parseSignatureFormat, type SignatureFormat, signatureMismatch } from '../signature.js';
import { assertInsideWindow, parseTimestamp } from '../timestamp.js';
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
  return prepare(options, { ...verifierRules, receivedAt: optional(date) })(request);
}

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
  const secrets = listSecrets(policy.signingSecret as WebSigningSecret).map(({ secret, option }) =>
    toKeyMaterial(secret, option),
  );
  let keys: Promise<CryptoKey[]> | undefined;
  const importKeys = () => {
    keys ??= Promise.all(secrets.map(importKey));
    return keys;
  };
  // The schema has accepted the record as one with these fields.
  return (request) => verify(request, policy, importKeys) as Promise<VerifiedCallback<Fields>>;
}

const encoder = new TextEncoder();

type CryptoKey = Parameters<typeof crypto.subtle.verify>[1];

async function verify(
  request: CallbackRequest,
  policy: ResolvedPolicy,
  importKeys: () => Promise<readonly CryptoKey[]>,
): Promise<VerifiedCallback> {
  assertRequest(request, 'rawBody and headers');
  const rawBody = assertRawBody(fieldOf(request, 'rawBody'));
  const body = typeof rawBody === 'string' ? encoder.encode(rawBody) : rawBody;
  const headers = fieldOf(request, 'headers') as CallbackRequest['headers'];
  const { timestamp, signature } = readSignedHeaders(headers);

  const sentAtMs = parseTimestamp(timestamp, policy.timestampUnit);
  assertInsideWindow(sentAtMs, policy);

  const digest = decodeDigest(signature, parseSignatureFormat(signature, policy.signatureEncoding));
  const signed = joinSignedBytes(timestamp, body);
  const keys = await importKeys();
  const secretIndex = await findMatchingKey(keys, digest, signed);
  if (secretIndex === -1) throw signatureMismatch(keys.length, headers);

  const payment = parseStatusRecord(decodeBody(body, headers));
  // Before the user's schema runs, which gets the record and could change it.
  const key = await callbackKey(payment);
  if (policy.recordSchema !== undefined) {
    assertSchemaAccepts(await runRecordSchema(policy.recordSchema, payment));
  }
  return {
    payment,
    key,
    timestamp: new Date(sentAtMs),
    secretIndex,
    rawBody: body,
  };
}

function joinSignedBytes(timestamp: string, body: Uint8Array): Uint8Array<ArrayBuffer> {
  // Digits and a full stop: one byte each.
  const prefix = encoder.encode(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  return signed;
}

async function findMatchingKey(
  keys: readonly CryptoKey[],
  digest: Uint8Array<ArrayBuffer>,
  signed: Uint8Array<ArrayBuffer>,
): Promise<number> {
  // subtle.verify compares in constant time.
  for (let index = 0; index < keys.length; index += 1) {
    if (await crypto.subtle.verify('HMAC', keys[index] as CryptoKey, digest, signed)) return index;
  }
  return -1;
}

function decodeDigest(text: string, format: SignatureFormat): Uint8Array<ArrayBuffer> {
  if (format === 'hex') {
    return Uint8Array.from({ length: 32 }, (_, index) =>
      Number.parseInt(text.slice(index * 2, index * 2 + 2), 16),
    );
  }
  const standard = text.replaceAll('-', '+').replaceAll('_', '/');
  return Uint8Array.from(atob(standard), (character) => character.charCodeAt(0));
}

function toKeyMaterial(
  secret: WebSigningSecret,
  option: string,
): Uint8Array<ArrayBuffer> | WebCryptoKey {
  if (typeof secret === 'string') {
    assertUsableSecret(secret, option);
    return encoder.encode(secret);
  }
  if (isUint8Array(secret)) {
    assertUsableSecret(secret, option);
    return Uint8Array.from(secret);
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
