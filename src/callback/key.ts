import { describeMismatch } from '../protocol/describe-value.js';
import { parseInstant, readUtc } from '../protocol/instant.js';
import { isDateTime, type PaymentStatusRecord } from '../protocol/payment.js';
import { invalidRecord } from './record.js';

// No full stop, which separates the parts: so no two changes share a key.
const PLAIN = /^[A-Za-z0-9_-]+$/;
// Job ids, columns and idempotency keys usually allow this many characters.
const MAX_LENGTH = 128;

/** A callback's key, or the text from whose digest it is made. */
export type CallbackKeyForm =
  | { readonly key: string; readonly digestOf?: undefined }
  | { readonly digestOf: string };

/**
 * Decides the key of a status change. It depends on the instant of `updatedAt`, not its spelling, and not on
 * X-Timestamp and X-Signature, since a retry may be signed anew.
 *
 * @throws {CallbackVerificationError} `INVALID_RECORD` when a part is missing
 */
export function decideCallbackKey({
  referenceNumber,
  status,
  updatedAt,
}: PaymentStatusRecord): CallbackKeyForm {
  assertKeyPart('referenceNumber', referenceNumber);
  assertKeyPart('status', status);
  assertKeyPart('updatedAt', updatedAt);
  const instant = describeInstant(updatedAt);
  const key = `${referenceNumber}.${status}.${instant.text}`;
  const isPlain = instant.isWhole && PLAIN.test(referenceNumber) && PLAIN.test(status);
  if (isPlain && key.length <= MAX_LENGTH) return { key };
  // The lengths ensure that different triples have different texts.
  const text = `${referenceNumber.length}.${status.length}.${referenceNumber}${status}${instant.text}`;
  // UTF-8 encodes all lone surrogates alike, but JSON escapes each by its code. JSON begins with a quote,
  // unlike any other text here.
  return { digestOf: text.isWellFormed() ? text : JSON.stringify(text) };
}

/** Has one full stop; a readable key has two. */
export const toDigestKey = (digest: string): string => `sha256.${digest}`;

// Microseconds since 1970, then a full stop and any finer digits: if two changes shared a key, the second
// would be lost. Only an unverified record may lack a date-time here.
function describeInstant(updatedAt: string): { text: string; isWhole: boolean } {
  const epochMs = readUtc(updatedAt);
  if (epochMs !== undefined) {
    // In two parts, since formatting a number beyond 32 bits takes eight times as long.
    const milliseconds = String(epochMs % 1000).padStart(3, '0');
    return { text: `${Math.floor(epochMs / 1000)}${milliseconds}000`, isWhole: true };
  }
  if (!isDateTime(updatedAt)) return { text: ` ${updatedAt}`, isWhole: false };
  const { occurredAt, microseconds, finer } = parseInstant(updatedAt);
  // From the year 2255 on it would not be a safe integer.
  const whole = BigInt(occurredAt.getTime()) * 1000n + BigInt(microseconds);
  return finer === ''
    ? { text: String(whole), isWhole: true }
    : { text: `${whole}.${finer}`, isWhole: false };
}

function assertKeyPart(field: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw invalidRecord([{ path: [field], message: describeMismatch('a non-empty string', value) }]);
}
