import { CallbackVerificationError } from '../errors.js';
import type { SignatureEncoding } from '../protocol/wire.js';
import { type CallbackHeaders, findContentEncoding } from './headers.js';

/** How to decode a signature's text. `base64` includes base64url. */
export type SignatureFormat = 'hex' | 'base64';

const HEX = /^[0-9a-fA-F]{64}$/;

// 43 characters have 258 bits for a digest of 256, so the last must be one of the sixteen whose two spare
// bits are zero. Decoders ignore those bits, which would allow four spellings of one digest.
const BASE64 = /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=?$/;
const BASE64URL = /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]=?$/;

/**
 * Returns the encoding of the 32-byte digest in X-Signature. The interface leaves the encoding open (section
 * 5.2, point 5); length and alphabet identify it.
 *
 * @throws {CallbackVerificationError} `INVALID_SIGNATURE` for anything else, including a digest of another
 * length and an encoding that `allowed` excludes
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

export function signatureMismatch(
  secretCount: number,
  headers: CallbackHeaders,
): CallbackVerificationError {
  const encoding = findContentEncoding(headers);
  const compressed =
    encoding === undefined
      ? ''
      : `. The request has content-encoding ${encoding}, and the signature covers the bytes as received, so nothing may compress or inflate the body on its way`;
  return new CallbackVerificationError(
    'SIGNATURE_MISMATCH',
    `X-Signature does not match the body under ${secretCount === 1 ? 'the signing secret' : `any of the ${secretCount} signing secrets`}: the body is not the bytes as received, the secret belongs to another account, or the callback is forged${compressed}`,
  );
}
