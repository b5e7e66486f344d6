import { CallbackVerificationError } from '../errors.js';
import { type SignatureEncoding, signatureEncodings } from '../protocol/wire.js';
import { type CallbackHeaders, findContentEncoding } from './headers.js';

// 43 characters of base64 have 258 bits for a digest of 256, so the last must be one of the sixteen whose two spare
// bits are zero. Decoders ignore those bits, which would allow four spellings of one digest.
const FORMS: Readonly<Record<SignatureEncoding, RegExp>> = {
  hex: /^[0-9a-fA-F]{64}$/,
  base64: /^[A-Za-z0-9+/]{42}[AEIMQUYcgkosw048]=?$/,
  base64url: /^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]=?$/,
};

/**
 * Returns the 32-byte digest in X-Signature in lower-case hex. The interface leaves the encoding open (section
 * 5.2, point 5); length and alphabet identify it.
 *
 * @throws {CallbackVerificationError} `INVALID_SIGNATURE` for anything else, including a digest of another
 * length and an encoding that `allowed` excludes
 */
export function parseSignature(text: string, allowed: SignatureEncoding | 'auto'): string {
  const encodings = allowed === 'auto' ? signatureEncodings : [allowed];
  const encoding = encodings.find((one) => FORMS[one].test(text));
  if (encoding === 'hex') return text.toLowerCase();
  if (encoding !== undefined) return base64ToHex(text);
  throw new CallbackVerificationError(
    'INVALID_SIGNATURE',
    `X-Signature must be a SHA-256 digest in ${allowed === 'auto' ? 'hex, base64 or base64url' : allowed}; received ${text.length} characters that are none of these`,
  );
}

function base64ToHex(text: string): string {
  const bytes = atob(text.replaceAll('-', '+').replaceAll('_', '/'));
  return Array.from(bytes, (byte) => byte.charCodeAt(0).toString(16).padStart(2, '0')).join('');
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
