import type { SignatureEncoding } from '../../protocol/wire.js';
import type { CallbackFinding } from './diagnosis.js';

/** Hash functions that are told apart by the length of their digest. */
export type DigestAlgorithm = 'sha1' | 'sha256' | 'sha384' | 'sha512';

const THE_DIGEST_ALONE =
  'Let X-Signature hold the digest alone, without white space, quotes or a prefix.';

export const repeatedFinding: CallbackFinding = Object.freeze({
  code: 'signature-repeated',
  message: 'X-Signature came more than once.',
  remedy: 'Send it once: see which proxy or middleware adds the second.',
});

export const edgeSpaceFinding: CallbackFinding = Object.freeze({
  code: 'signature-edge-space',
  message: 'X-Signature has white space at an edge.',
  remedy: THE_DIGEST_ALONE,
});

export const quotedFinding: CallbackFinding = Object.freeze({
  code: 'signature-quoted',
  message: 'X-Signature has quotes around it.',
  remedy: THE_DIGEST_ALONE,
});

export const prefixedFinding: CallbackFinding = Object.freeze({
  code: 'signature-prefixed',
  message:
    'X-Signature holds more than the digest: a prefix such as sha256= or v1= stands before it.',
  remedy: THE_DIGEST_ALONE,
});

export const base64OfHexFinding: CallbackFinding = Object.freeze({
  code: 'signature-base64-of-hex',
  message: 'X-Signature is the base64 of the hex text of the digest; it was encoded twice.',
  remedy: 'Encode the digest once where it is made: hex, or base64 of its 32 bytes.',
});

export function encodingFinding(
  came: SignatureEncoding,
  allowed: SignatureEncoding | 'auto',
): CallbackFinding {
  return Object.freeze({
    code: 'signature-encoding',
    message: `X-Signature is a digest in ${came}, but signatureEncoding is '${allowed}'.`,
    remedy: `Set signatureEncoding: '${came}'.`,
  });
}

const ALGORITHM_NAMES: Readonly<Record<DigestAlgorithm, string>> = {
  sha1: 'SHA-1',
  sha256: 'SHA-256',
  sha384: 'SHA-384',
  sha512: 'SHA-512',
};

const USE_SHA_256 = 'Sign with HMAC SHA-256 (interface section 5.2).';

export function otherAlgorithmFinding(
  algorithm: DigestAlgorithm,
  byteLength: number,
): CallbackFinding {
  return Object.freeze({
    code: 'signature-other-algorithm',
    message: `X-Signature is ${byteLength} bytes long: it is an HMAC ${ALGORITHM_NAMES[algorithm]}, checked with the signing secret.`,
    remedy: USE_SHA_256,
  });
}

/** The same for a digest that was not found to be that HMAC. */
export function otherAlgorithmSuspected(
  algorithm: DigestAlgorithm,
  byteLength: number,
): CallbackFinding {
  return Object.freeze({
    code: 'signature-other-algorithm',
    message: `X-Signature is ${byteLength} bytes long and looks like ${ALGORITHM_NAMES[algorithm]}, but is no HMAC of this callback under the signing secret.`,
    remedy: USE_SHA_256,
  });
}

const SEE_THE_HEADERS =
  'Pass all headers as received: a proxy, or what captured them, dropped or renamed X-Signature.';

export function missingFinding(similarHeaders: readonly string[]): CallbackFinding {
  return Object.freeze({
    code: 'signature-missing',
    message:
      similarHeaders.length === 0
        ? 'X-Signature is missing.'
        : `X-Signature is missing; of a similar name came ${similarHeaders.join(', ')}.`,
    remedy: SEE_THE_HEADERS,
    similarHeaders: Object.freeze(similarHeaders),
  });
}

export function missingButFound(header: string): CallbackFinding {
  return Object.freeze({
    code: 'signature-missing',
    message: `X-Signature is missing; the header ${header} holds the signature.`,
    remedy: `Pass the value of ${header} as x-signature.`,
    similarHeaders: Object.freeze([header]),
  });
}

/** For a value that is no digest in any encoding known here. */
export function malformedFinding(values: readonly string[]): CallbackFinding {
  const [value = ''] = values;
  return Object.freeze({
    code: 'signature-malformed',
    message: describeMalformed(value),
    remedy:
      'Pass X-Signature whole and as received: a SHA-256 digest has 64 characters in hex, 43 or 44 in base64.',
  });
}

function describeMalformed(value: string): string {
  const came = `X-Signature has ${value.length} characters`;
  if (value === '') return 'X-Signature is no text.';
  if (/^[\da-f]+$/i.test(value)) return `${came}, all hex digits: it is no whole digest.`;
  if (/^[\w+/-]+={0,2}$/.test(value)) return `${came} that could be base64: it is no whole digest.`;
  return `${came} and is neither hex nor base64.`;
}
