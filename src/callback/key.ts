import { describeMismatch } from '../protocol/describe-value.js';
import { parseInstant } from '../protocol/instant.js';
import { isDateTime, type PaymentStatusRecord } from '../protocol/payment.js';
import { invalidRecord } from './refusals.js';

// No full stop, which separates the parts: so no two changes share a key.
const PLAIN = /^[A-Za-z0-9_-]+$/;
// Job ids, columns and idempotency keys usually allow this many characters.
const MAX_LENGTH = 128;

/** A callback's key, or the text from whose digest it is made: `sha256.`, which has one full stop less, and the digest. */
export type CallbackKeyForm = string | { readonly digestOf: string };

/**
 * Decides the key of a status change. It depends on the instant of `updatedAt`, not its spelling, and not on
 * X-Timestamp and X-Signature, since a retry may be signed anew.
 *
 * @param payment a record that was checked
 */
export function decideKey(payment: PaymentStatusRecord): CallbackKeyForm {
  const { referenceNumber, status, updatedAt } = payment;
  const { occurredAt, microseconds, finer } = parseInstant(updatedAt);
  const instant = toMicroseconds(occurredAt.getTime(), microseconds);
  // If two changes shared a key, the second would be lost.
  if (finer !== '') return digestOf(payment, `${instant}.${finer}`);
  const key = `${referenceNumber}.${status}.${instant}`;
  const isPlain = key.length <= MAX_LENGTH && PLAIN.test(referenceNumber) && PLAIN.test(status);
  return isPlain ? key : digestOf(payment, instant);
}

/** The same for a record that may lack a part, which is refused, or have another text as `updatedAt`. */
export function decideKeyOfAny(payment: PaymentStatusRecord): CallbackKeyForm {
  for (const field of ['referenceNumber', 'status', 'updatedAt'] as const) {
    const value: unknown = payment[field];
    if (typeof value === 'string' && value !== '') continue;
    const message = describeMismatch('a non-empty string', value);
    throw invalidRecord([{ path: [field], message }]);
  }
  const { updatedAt } = payment;
  return isDateTime(updatedAt) ? decideKey(payment) : digestOf(payment, ` ${updatedAt}`);
}

function digestOf({ referenceNumber, status }: PaymentStatusRecord, instant: string) {
  // The lengths ensure that different triples have different texts.
  const text = `${referenceNumber.length}.${status.length}.${referenceNumber}${status}${instant}`;
  // UTF-8 encodes all lone surrogates alike, but JSON escapes each by its code. JSON begins with a quote,
  // unlike any other text here.
  return { digestOf: text.isWellFormed() ? text : JSON.stringify(text) };
}

/** Microseconds since 1970. */
function toMicroseconds(epochMs: number, microseconds: number): string {
  // From the year 2255 on, it would not be a safe integer.
  if (epochMs < 1000) return String(BigInt(epochMs) * 1000n + BigInt(microseconds));
  // In parts, since formatting a number beyond 32 bits takes eight times as long.
  const rest = String(1_000_000 + (epochMs % 1000) * 1000 + microseconds);
  return `${Math.floor(epochMs / 1000)}${rest.slice(1)}`;
}
