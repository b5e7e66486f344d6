import { CallbackVerificationError } from '../errors.js';
import type { SignatureEncoding } from '../protocol/wire.js';

/** How to decode a signature's text: `base64` includes its URL alphabet. */
export type SignatureFormat = 'hex' | 'base64';

const HEX = /^[0-9a-fA-F]{64}$/;

// 43 characters hold 258 bits for a digest of 256: the last one may only be one of the sixteen whose
// two spare bits are zero. Decoders ignore those bits, which would give one digest four spellings.
const BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=?$/;
const BASE64URL = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]=?$/;

/**
 * Finds the encoding of the 32-byte digest in X-Signature. The interface leaves the encoding open
 * (section 5.2, point 5); length and alphabet tell the three apart.
 *
 * @throws {CallbackVerificationError} `INVALID_SIGNATURE` for anything else, a digest of another length
 * included, or an encoding that `allowed` rules out
 */
export function parseSignatureFormat(
  text: string,
  allowed: SignatureEncoding | 'auto',
): SignatureFormat {
  if ((allowed === 'auto' || allowed === 'hex') && HEX.test(text)) return 'hex';
  if ((allowed === 'auto' || allowed === 'base64') && BASE64.test(text)) return 'base64';
  if ((allowed === 'auto' || allowed === 'base64url') && BASE64URL.test(text)) return 'base64';
  throw new CallbackVerificationError(
    'INVALID_SIGNATURE',
    `X-Signature must be a SHA-256 digest in ${allowed === 'auto' ? 'hex, base64 or base64url' : allowed}; received ${text.length} characters that are none of these`,
  );
}

export function signatureMismatch(secretCount: number): CallbackVerificationError {
  return new CallbackVerificationError(
    'SIGNATURE_MISMATCH',
    `X-Signature does not match the body under ${secretCount === 1 ? 'the signing secret' : `any of the ${secretCount} signing secrets`}: the body is not the bytes as received, the secret belongs to another account, or the callback is forged`,
  );
}
