import { assertOwnSecret, isMockSigningSecret } from '../protocol/mock-secrets.js';
import { invalidOption, resolveOptions } from '../protocol/options.js';
import { type Bytes, copyOf } from './body.js';
import {
  assertSchemaAccepts,
  openRequest,
  readSigned,
  type SigningHeaders,
  type Verification,
} from './checks.js';
import { type CallbackKeyForm, decideKey } from './key.js';
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
  type WebCryptoKey,
} from './options.js';

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
 * import { verifyCallbackAsync } from 'merchant-payments/callback';
 *
 * export async function POST(request: Request): Promise<Response> {
 *   const rawBody = await request.arrayBuffer();
 *   const { payment } = await verifyCallbackAsync(
 *     { rawBody, headers: request.headers },
 *     { signingSecret: process.env.SIGNING_SECRET ?? '' },
 *   );
 *   return new Response(null, { status: payment.status === 'paid' ? 200 : 204 });
 * }
 * ```
 */
export async function verifyCallbackAsync<Fields = unknown>(
  request: CallbackRequest,
  options: VerifyCallbackOptions<Fields>,
): Promise<VerifiedCallback<NoInfer<Fields>>> {
  return prepare(options, verifyRules)(request);
}

/**
 * Creates an asynchronous verifier, whose keys are imported once, at its first call.
 *
 * @throws {InvalidOptionError} when an option is invalid: an empty secret, a negative tolerance
 */
export function createAsyncCallbackVerifier<Fields = unknown>(
  options: CallbackVerifierOptions<Fields>,
): (request: CallbackRequest) => Promise<VerifiedCallback<NoInfer<Fields>>> {
  return prepare(options, verifierRules);
}

function prepare<Fields>(
  options: VerifyCallbackOptions<Fields>,
  rules: VerifierRules,
): (request: CallbackRequest) => Promise<VerifiedCallback<Fields>> {
  const policy = resolveOptions(options, rules, { holds: 'signingSecret' });
  const verify = prepareSecretsAsync(policy.signingSecret as SigningSecret);
  return async (request) => {
    const { body, signing } = openRequest(request, policy);
    const { callback } = await verify(signing, body);
    const result = await policy.recordSchema?.['~standard'].validate(callback.payment);
    if (result !== undefined) assertSchemaAccepts(result);
    // The schema has accepted the record as one with these fields.
    return callback as VerifiedCallback<Fields>;
  };
}

async function toKeyText(form: CallbackKeyForm): Promise<string> {
  if (typeof form === 'string') return form;
  const digest = await crypto.subtle.digest('SHA-256', copyOf(form.digestOf));
  const base64 = btoa(String.fromCharCode(...new Uint8Array(digest)));
  return `sha256.${base64.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')}`;
}

type CryptoKey = Parameters<typeof crypto.subtle.verify>[1];

/** Checks the secrets, and imports them at the first call. What it returns checks a body whose headers were checked. */
export function prepareSecretsAsync(
  signingSecret: SigningSecret | readonly SigningSecret[],
): (signing: SigningHeaders, body: string | Uint8Array) => Promise<Verification> {
  const secrets = importSecrets(signingSecret, toMaterial);
  const isOfMock = secrets.some((one) => ArrayBuffer.isView(one) && isMockSigningSecret(one));
  let importing: Promise<CryptoKey[]> | undefined;
  return async (signing, given) => {
    assertOwnSecret(isOfMock);
    // A copy, since the caller could change the body during the waits below.
    const body = copyOf(given);
    importing ??= Promise.all(secrets.map(importKey));
    const keys = await importing;
    const secretIndex = await findKey(keys, signing, body);
    const { text, payment } = readSigned(body, signing, { secretIndex, of: keys.length });
    const key = await toKeyText(decideKey(payment));
    const timestamp = new Date(signing.sentAtMs);
    return { text, callback: { payment, key, timestamp, secretIndex, rawBody: body } };
  };
}

/** The index of the key that made the signature; -1 for none. */
async function findKey(
  keys: readonly CryptoKey[],
  { timestamp, digest }: SigningHeaders,
  body: Bytes,
): Promise<number> {
  const prefix = copyOf(`${timestamp}.`);
  const signed = new Uint8Array(prefix.length + body.length);
  signed.set(prefix);
  signed.set(body, prefix.length);
  const bytes = Uint8Array.from({ length: 32 }, (_, index) =>
    Number.parseInt(digest.slice(index * 2, index * 2 + 2), 16),
  );
  // subtle.verify compares in constant time.
  for (const [index, key] of keys.entries()) {
    if (await crypto.subtle.verify('HMAC', key, bytes, signed)) return index;
  }
  return -1;
}

function toMaterial(secret: SigningSecret, option: string): Bytes | WebCryptoKey {
  const material = bytesOfSecret(secret, option) ?? (isVerifyingKey(secret) ? secret : undefined);
  if (material !== undefined) return material;
  const accepted =
    "a string, a Uint8Array, a secret KeyObject or an HMAC SHA-256 CryptoKey with the usage 'verify'";
  throw invalidOption(option, accepted, secret);
}

function isVerifyingKey(secret: unknown): secret is WebCryptoKey {
  const { type, algorithm, usages } = (secret ?? {}) as Partial<WebCryptoKey>;
  const isHmac = algorithm?.name === 'HMAC' && algorithm.hash?.name === 'SHA-256';
  return type === 'secret' && isHmac && usages?.includes('verify') === true;
}

const HMAC = { name: 'HMAC', hash: 'SHA-256' };

const importKey = async (material: Bytes | WebCryptoKey): Promise<CryptoKey> =>
  ArrayBuffer.isView(material)
    ? crypto.subtle.importKey('raw', material, HMAC, false, ['verify'])
    : (material as CryptoKey);
