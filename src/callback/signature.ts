import { CallbackVerificationError } from '../errors.js';
import type { SignatureEncoding } from '../protocol/wire.js';

/** How a signature's text is to be decoded: base64 stands for its URL alphabet too. */
export type SignatureFormat = 'hex' | 'base64';

const HEX = /^[0-9a-fA-F]{64}$/;

// 43 characters hold 258 bits for a digest of 256: the last one may only be one of the sixteen whose
// two spare bits are zero. Decoders ignore those bits, which would give one digest four spellings.
const BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=?$/;
const BASE64URL = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]=?$/;

/**
 * Tells how the 32-byte digest in X-Signature is written. The interface leaves the encoding open
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
    `X-Signature must be a SHA-256 digest in ${allowed === 'auto' ? 'hex, base64 or base64url' : allowed}, but a value of ${text.length} characters came that is none`,
  );
}

export function signatureMismatch(secretCount: number): CallbackVerificationError {
  return new CallbackVerificationError(
    'SIGNATURE_MISMATCH',
    `X-Signature does not match the body under ${secretCount === 1 ? 'the signing secret' : `any of the ${secretCount} signing secrets`}: the body is not the bytes as received, the secret is another account's, or the callback is forged`,
  );
}
