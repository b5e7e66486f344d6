import { describeMismatch } from '../protocol/describe-value.js';
import { parseInstant, readUtc } from '../protocol/instant.js';
import { isDateTime, type PaymentStatusRecord } from '../protocol/payment.js';
import { invalidRecord } from './record.js';

// No full stop, which stands between the parts: no two changes have one key.
const PLAIN = /^[A-Za-z0-9_-]+$/;
// What the id of a job, a column and an idempotency key usually hold.
const MAX_LENGTH = 128;

/** A callback's key, or the text whose digest it is. */
export type CallbackKeyForm =
  | { readonly key: string; readonly digestOf?: undefined }
  | { readonly digestOf: string };

/**
 * Decides the key of a status change. The instant counts, not its spelling. X-Timestamp and
 * X-Signature stay out of it, since a retry may be signed anew.
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
  // The lengths keep two different triples from sharing one text.
  const text = `${referenceNumber.length}.${status.length}.${referenceNumber}${status}${instant.text}`;
  // UTF-8 has one sign for every lone surrogate. JSON writes each as it is, and begins with a quote,
  // which no other text here does.
  return { digestOf: text.isWellFormed() ? text : JSON.stringify(text) };
}

/** Its one full stop distinguishes it from a readable key, which has two. */
export const toDigestKey = (digest: string): string => `sha256.${digest}`;

// Microseconds since 1970, and what is finer behind a full stop: were two changes
// taken for one, the second would be lost. Only a record that was not verified has no date-time here.
function describeInstant(updatedAt: string): { text: string; isWhole: boolean } {
  const epochMs = readUtc(updatedAt);
  if (epochMs !== undefined) {
    // In two parts: the text of a number beyond 32 bits takes eight times as long.
    const milliseconds = String(epochMs % 1000).padStart(3, '0');
    return { text: `${Math.floor(epochMs / 1000)}${milliseconds}000`, isWhole: true };
  }
  if (!isDateTime(updatedAt)) return { text: ` ${updatedAt}`, isWhole: false };
  const { occurredAt, microseconds, finer } = parseInstant(updatedAt);
  // From the year 2255 on it is no safe integer.
  const whole = BigInt(occurredAt.getTime()) * 1000n + BigInt(microseconds);
  return finer === ''
    ? { text: String(whole), isWhole: true }
    : { text: `${whole}.${finer}`, isWhole: false };
}

function assertKeyPart(field: string, value: unknown): void {
  if (typeof value === 'string' && value !== '') return;
  throw invalidRecord([{ path: [field], message: describeMismatch('a non-empty string', value) }]);
}
