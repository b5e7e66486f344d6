import { createHmac, createSecretKey, KeyObject } from 'node:crypto';
import { InvalidOptionError } from '../../errors.js';
import { describeValue } from '../../protocol/describe-value.js';
import type { SignatureEncoding } from '../../protocol/wire.js';

/** A callback signing secret: text (its UTF-8 bytes are the key), bytes, or a secret `KeyObject`. */
export type SigningSecret = string | Uint8Array | KeyObject;

interface Signing {
  /** The value of X-Timestamp. */
  readonly timestamp: string;
  readonly body: Uint8Array;
  readonly key: KeyObject;
  readonly encoding: SignatureEncoding;
}

// Nothing here is shared with the verifier: one signer for both would hide a mistake on both sides.
// Vectors made by openssl and Python hold the two to the same result.

/** The value of X-Signature: HMAC SHA-256 of `<timestamp>.<body>` (interface section 5.2). */
export function signCallbackBytes({ timestamp, body, key, encoding }: Signing): string {
  const signed = Buffer.concat([Buffer.from(`${timestamp}.`, 'latin1'), body]);
  return createHmac('sha256', key).update(signed).digest(encoding);
}

/**
 * Makes a key of a signing secret.
 *
 * @throws {InvalidOptionError} naming `option`, never the value, for a secret no verifier accepts
 */
export function createSigningKey(option: string, secret: unknown): KeyObject {
  if (typeof secret === 'string') {
    assertSecretText(option, secret);
    return createSecretKey(secret, 'utf8');
  }
  if (secret instanceof KeyObject) {
    if (secret.type === 'secret' && secret.symmetricKeySize !== 0) return secret;
    throw new InvalidOptionError(
      option,
      `${option} must be a KeyObject of type secret that is not empty, but one of type ${secret.type} came`,
    );
  }
  if (ArrayBuffer.isView(secret)) {
    if (secret.byteLength > 0) return createSecretKey(toBytes(secret));
    throw new InvalidOptionError(option, `${option} must not be empty, but no bytes came`);
  }
  throw new InvalidOptionError(
    option,
    `${option} must be a string, a Uint8Array or a KeyObject, but ${describeValue(secret)} came`,
  );
}

/**
 * A secret that is empty or has white space at an edge is a mistake, in a test too.
 *
 * @throws {InvalidOptionError} naming `option`, never the value
 */
export function assertSecretText(option: string, secret: unknown): asserts secret is string {
  if (typeof secret !== 'string' || secret.trim() === '') {
    throw new InvalidOptionError(
      option,
      `${option} must be a string that is not empty, but ${describeValue(secret)} came`,
    );
  }
  if (secret.trim() !== secret) {
    throw new InvalidOptionError(
      option,
      `${option} must not begin or end with white space, but it does; trim it where it is read`,
    );
  }
}

/** A copy of the bytes of a view, whichever of the classes it has. */
export function toBytes({ buffer, byteOffset, byteLength }: ArrayBufferView): Uint8Array {
  return new Uint8Array(buffer, byteOffset, byteLength).slice();
}
